//! Numbers of a loadfile, some of which are made up while it runs.

use bakeoff_engine::Rng;

/// A number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Number {
    /// As it stands.
    Fixed(u64),
    /// `*`: any.
    Any,
    /// `*/n`: any multiple of n.
    MultipleOf(u64),
    /// `*%n`: any below n.
    Below(u64),
    /// `*+n`: any from n on.
    From(u64),
    /// `+n`: n more than the last one of this kind.
    After(u64),
    /// `+child`: the client's number.
    Child,
    /// `+num_children`: how many clients there are.
    Children,
}

/// Where any number ends: offsets stay small enough for every file system.
const ANY_MAX: u64 = 1 << 31;

impl Number {
    /// Reads one; `None` when it is none.
    pub fn parse(text: &str) -> Option<Self> {
        let plain = |text: &str| -> Option<u64> {
            let hex = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
            hex.map_or_else(|| text.parse().ok(), |digits| u64::from_str_radix(digits, 16).ok())
        };
        match text {
            "*" => return Some(Self::Any),
            "+child" => return Some(Self::Child),
            "+num_children" => return Some(Self::Children),
            _ => {}
        }
        if let Some(rest) = text.strip_prefix('*') {
            let number = plain(rest.get(1..)?).filter(|&number| number > 0);
            return match rest.as_bytes().first()? {
                b'/' => number.map(Self::MultipleOf),
                b'%' => number.map(Self::Below),
                b'+' => number.map(Self::From),
                _ => None,
            };
        }
        match text.strip_prefix('+') {
            Some(rest) => plain(rest).map(Self::After),
            None => plain(text).map(Self::Fixed),
        }
    }

    /// Its value; `last` is that of the last number of its kind.
    pub fn value(self, last: u64, rng: &mut Rng, child: u32, children: u32) -> u64 {
        match self {
            Self::Fixed(number) => number,
            Self::Any => rng.below(ANY_MAX),
            Self::MultipleOf(step) => rng.below(ANY_MAX) / step * step,
            Self::Below(bound) => rng.below(bound),
            Self::From(least) => least.saturating_add(rng.below(ANY_MAX)),
            Self::After(more) => last.saturating_add(more),
            Self::Child => u64::from(child),
            Self::Children => u64::from(children),
        }
    }
}

/// A text by a pattern: characters stand for themselves, `[0-9a-f]` for one of those.
pub fn random_text(pattern: &str, rng: &mut Rng) -> String {
    let mut text = String::new();
    let mut rest = pattern;
    while let Some(open) = rest.find('[') {
        let Some(close) = rest[open..].find(']').map(|at| open + at) else { break };
        text.push_str(&rest[..open]);
        let set: Vec<char> = rest[open + 1..close].chars().collect();
        text.extend(pick(&set, rng));
        rest = &rest[close + 1..];
    }
    text + rest
}

fn pick(set: &[char], rng: &mut Rng) -> Option<char> {
    let mut choices: Vec<char> = Vec::new();
    let mut at = 0;
    while at < set.len() {
        if at + 2 < set.len() && set[at + 1] == '-' {
            choices.extend((set[at]..=set[at + 2]).take(256));
            at += 3;
        } else {
            choices.push(set[at]);
            at += 1;
        }
    }
    let index = rng.below(choices.len() as u64) as usize;
    choices.get(index).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_forms_are_read() {
        use Number::{After, Any, Below, Child, Children, Fixed, From, MultipleOf};
        let forms = [
            ("7", Fixed(7)),
            ("0x40", Fixed(64)),
            ("*", Any),
            ("*/8", MultipleOf(8)),
            ("*%10", Below(10)),
            ("*+5", From(5)),
            ("+3", After(3)),
            ("+child", Child),
            ("+num_children", Children),
        ];
        for (text, number) in forms {
            assert_eq!(Number::parse(text), Some(number), "{text}");
        }
        for text in ["", "x", "*x", "*/0", "*%", "+", "-1", "18446744073709551616", "*é5", "0xg"] {
            assert_eq!(Number::parse(text), None, "{text}");
        }
    }

    #[test]
    fn texts_follow_their_pattern() {
        let mut rng = Rng::for_thread(1, 0, 0);
        for _ in 0..100 {
            let text = random_text("/t[0-9][a-c_]x", &mut rng);
            assert_eq!(text.len(), 5);
            assert!(text.starts_with("/t") && text.ends_with('x') && text.as_bytes()[2].is_ascii_digit(), "{text}");
        }
        assert_eq!(random_text("a[b", &mut rng), "a[b");
        assert_eq!(random_text("a[]b", &mut rng), "ab");
    }
}
