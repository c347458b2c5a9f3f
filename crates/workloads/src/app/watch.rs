//! What the server used inside the measured window, from what its replies tell.

use bakeoff_app_protocol::{Figures, UNKNOWN};

/// The first and the last figures that the server took inside the window.
///
/// The server looks at itself ten times a second and tells each look until the next, so that the figures of the
/// window's first reply may be of the ramp before it: the first look that differs from them is inside.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Watch {
    /// When the look was taken that the window's first reply told, ns of the server's uptime.
    before_ns: Option<u64>,
    inside: Option<(Figures, Figures)>,
}

impl Watch {
    /// Takes the figures of a reply that came inside the window.
    #[inline]
    pub fn take(&mut self, figures: Figures) {
        let before_ns = *self.before_ns.get_or_insert(figures.uptime_ns);
        if figures.uptime_ns > before_ns {
            self.inside.get_or_insert((figures, figures)).1 = figures;
        }
    }

    /// Adds what another session was told by the same server.
    pub fn add(&mut self, other: &Self) {
        let Some((first, last)) = other.inside else { return };
        let (own_first, own_last) = self.inside.get_or_insert((first, last));
        if first.uptime_ns < own_first.uptime_ns {
            *own_first = first;
        }
        if last.uptime_ns > own_last.uptime_ns {
            *own_last = last;
        }
    }

    /// The first and the last look, each as uptime, CPU time, bytes read and written.
    pub fn looks(&self) -> Option<[[u64; 4]; 2]> {
        let look = |of: Figures| [of.uptime_ns, of.cpu_ns, of.disk_read_bytes, of.disk_written_bytes];
        self.inside.map(|(first, last)| [look(first), look(last)])
    }

    /// What [`Watch::looks`] tells, to be added to another.
    pub fn of(looks: Option<[[u64; 4]; 2]>) -> Self {
        let look = |[uptime_ns, cpu_ns, disk_read_bytes, disk_written_bytes]: [u64; 4]| Figures {
            uptime_ns,
            cpu_ns,
            disk_read_bytes,
            disk_written_bytes,
        };
        Self { before_ns: None, inside: looks.map(|[first, last]| (look(first), look(last))) }
    }

    /// What was used from the first look to the last, `uptime_ns` being the time between; zeros when the window is
    /// too short for two.
    pub fn used(&self) -> Figures {
        let Some((first, last)) = self.inside else { return Figures::default() };
        Figures {
            uptime_ns: last.uptime_ns.saturating_sub(first.uptime_ns),
            cpu_ns: last.cpu_ns.saturating_sub(first.cpu_ns),
            disk_read_bytes: counted(first.disk_read_bytes, last.disk_read_bytes),
            disk_written_bytes: counted(first.disk_written_bytes, last.disk_written_bytes),
        }
    }
}

/// What a counter has gone on; [`UNKNOWN`] when there is none.
fn counted(first: u64, last: u64) -> u64 {
    if last == UNKNOWN || first == UNKNOWN { UNKNOWN } else { last.saturating_sub(first) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(uptime_ns: u64) -> Figures {
        Figures { uptime_ns, cpu_ns: 10 * uptime_ns, disk_read_bytes: 3, disk_written_bytes: uptime_ns }
    }

    #[test]
    fn the_look_that_the_first_reply_tells_is_left_out() {
        let mut watch = Watch::default();
        [5, 5, 7, 7, 9].map(at).into_iter().for_each(|figures| watch.take(figures));
        let used = watch.used();
        assert_eq!((used.uptime_ns, used.cpu_ns, used.disk_read_bytes, used.disk_written_bytes), (2, 20, 0, 2));
    }

    #[test]
    fn sessions_together_see_the_widest_span() {
        let (mut one, mut other) = (Watch::default(), Watch::default());
        [5, 7, 9].map(at).into_iter().for_each(|figures| one.take(figures));
        [5, 6, 8].map(at).into_iter().for_each(|figures| other.take(figures));
        one.add(&Watch::default());
        one.add(&other);
        assert_eq!(one.used().uptime_ns, 3);
    }

    #[test]
    fn without_two_looks_nothing_is_known() {
        let mut watch = Watch::default();
        [5, 5, 6].map(at).into_iter().for_each(|figures| watch.take(figures));
        assert_eq!((watch.used(), Watch::default().used()), (Figures::default(), Figures::default()));
    }
}
