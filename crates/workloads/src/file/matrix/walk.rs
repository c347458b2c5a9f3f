//! The order in which a test visits the records of a file.

use std::sync::Arc;

/// In which order records are visited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Rising.
    Forward,
    /// Falling.
    Backward,
    /// By a permutation.
    Random,
    /// The first record each time.
    First,
    /// Leaps of the stride.
    Stride,
}

/// Walks over the records of a file, each index below `records`, `records` steps.
#[derive(Debug, Clone)]
pub struct Walk {
    order: Order,
    records: u64,
    step: u64,
    stride: u64,
    base: u64,
    at: u64,
    permutation: Arc<[u32]>,
}

impl Walk {
    /// `permutation` is used by [`Order::Random`] alone and has one entry for each record then.
    pub fn new(order: Order, records: u64, stride: u64, permutation: Arc<[u32]>) -> Self {
        Self { order, records, step: 0, stride: stride.max(1), base: 0, at: 0, permutation }
    }

    /// Steps left.
    pub fn len_left(&self) -> u64 {
        self.records - self.step
    }
}

impl Iterator for Walk {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        if self.step >= self.records {
            return None;
        }
        let step = self.step;
        self.step += 1;
        Some(match self.order {
            Order::Forward => step,
            Order::Backward => self.records - 1 - step,
            Order::First => 0,
            Order::Random => u64::from(self.permutation[step as usize]),
            Order::Stride => {
                let at = self.at;
                self.at += self.stride;
                if self.at >= self.records {
                    self.base += 1;
                    self.at = self.base;
                }
                at
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(order: Order, records: u64) -> Vec<u64> {
        let permutation = (0..records as u32).rev().collect::<Vec<_>>().into();
        Walk::new(order, records, 17, permutation).collect()
    }

    #[test]
    fn every_order_but_the_hot_spot_visits_each_record_once() {
        for records in [1, 2, 16, 17, 18, 34, 35, 1000] {
            for order in [Order::Forward, Order::Backward, Order::Random, Order::Stride] {
                let mut visited = walk(order, records);
                visited.sort_unstable();
                assert_eq!(visited, (0..records).collect::<Vec<_>>(), "{order:?} {records}");
            }
            assert_eq!(walk(Order::First, records), vec![0; records as usize]);
        }
    }

    #[test]
    fn orders_are_those_of_the_definition() {
        assert_eq!(walk(Order::Stride, 40)[..6], [0, 17, 34, 1, 18, 35]);
        assert_eq!(walk(Order::Stride, 40)[9..11], [3, 20]);
        assert_eq!(walk(Order::Backward, 4), [3, 2, 1, 0]);
    }
}
