//! Time stamps of access logs: `10/Oct/2000:13:55:36 -0700`, or ISO 8601, each with its zone.

const MONTHS: [&[u8]; 12] =
    [b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];

/// A moment that a line was stamped with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    /// Since 1970 in UTC, µs.
    pub at_us: i64,
    /// It has a fraction of a second.
    pub fraction: bool,
}

/// Reads what stands between the brackets; `None` for what is no moment with a zone.
pub(crate) fn parse(text: &[u8]) -> Option<Stamp> {
    let mut rest = Reader(text);
    let (year, month, day) =
        if text.get(2) == Some(&b'/') { rest.day_of_a_log() } else { rest.day_of_iso() }.filter(|day| is_day(*day))?;
    let hour = rest.digits(2)?;
    rest.byte(b':')?;
    let minute = rest.digits(2)?;
    rest.byte(b':')?;
    let second = rest.digits(2)?;
    // A leap second is told as 60.
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let (fraction_us, fraction) = rest.fraction()?;
    let zone_s = rest.zone()?;
    let seconds = days(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second - zone_s;
    rest.0.is_empty().then_some(Stamp { at_us: seconds * 1_000_000 + fraction_us, fraction })
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn byte(&mut self, wanted: u8) -> Option<()> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        (*first == wanted).then_some(())
    }

    fn digits(&mut self, count: usize) -> Option<i64> {
        let (digits, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        digits.iter().try_fold(0, |sum, byte| byte.is_ascii_digit().then(|| sum * 10 + i64::from(byte - b'0')))
    }

    fn day_of_a_log(&mut self) -> Option<(i64, i64, i64)> {
        let day = self.digits(2)?;
        self.byte(b'/')?;
        let (name, rest) = self.0.split_at_checked(3)?;
        let month = MONTHS.iter().position(|month| *month == name)? as i64 + 1;
        self.0 = rest;
        self.byte(b'/')?;
        let year = self.digits(4)?;
        self.byte(b':')?;
        Some((year, month, day))
    }

    fn day_of_iso(&mut self) -> Option<(i64, i64, i64)> {
        let year = self.digits(4)?;
        self.byte(b'-')?;
        let month = self.digits(2)?;
        self.byte(b'-')?;
        let day = self.digits(2)?;
        self.byte(b'T')?;
        Some((year, month, day))
    }

    /// `.123` in µs, and whether there is any; what is finer is cut.
    fn fraction(&mut self) -> Option<(i64, bool)> {
        if self.0.first() != Some(&b'.') {
            return Some((0, false));
        }
        let digits = self.0[1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let value = (0..6).fold(0, |sum, at| {
            let digit = if at < digits { i64::from(self.0[1 + at] - b'0') } else { 0 };
            sum * 10 + digit
        });
        self.0 = &self.0[1 + digits..];
        (1..=9).contains(&digits).then_some((value, true))
    }

    /// ` -0700`, `+01:00` or `Z` in seconds east of UTC.
    fn zone(&mut self) -> Option<i64> {
        if self.0.first() == Some(&b' ') {
            self.0 = &self.0[1..];
        }
        let (sign, rest) = self.0.split_first()?;
        self.0 = rest;
        let sign = match sign {
            b'Z' => return Some(0),
            b'+' => 1,
            b'-' => -1,
            _ => return None,
        };
        let hours = self.digits(2)?;
        if self.0.first() == Some(&b':') {
            self.0 = &self.0[1..];
        }
        let minutes = self.digits(2)?;
        (hours <= 23 && minutes <= 59).then_some(sign * (hours * 3_600 + minutes * 60))
    }
}

fn is_day((year, month, day): (i64, i64, i64)) -> bool {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    (1970..=9999).contains(&year) && (1..=days).contains(&day)
}

/// Days since 1970-01-01 (the Gregorian calendar, counted in eras of 400 years).
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_of_both_forms_and_all_zones_are_moments() {
        for (text, at_us) in [
            ("10/Oct/2000:13:55:36 -0700", 971_211_336_000_000),
            ("01/Jan/1970:00:00:00 +0000", 0),
            ("01/Jan/1970:05:30:00 +0530", 0),
            ("29/Feb/2024:23:59:60 +0000", 1_709_251_200_000_000),
            ("31/Dec/2026:23:59:59 -1200", 1_798_804_799_000_000),
            ("10/Oct/2000:13:55:36.25 -0700", 971_211_336_250_000),
            ("2000-10-10T13:55:36-07:00", 971_211_336_000_000),
            ("2000-10-10T20:55:36.123456789Z", 971_211_336_123_456),
        ] {
            let stamp = parse(text.as_bytes()).unwrap_or_else(|| panic!("{text}"));
            assert_eq!((stamp.at_us, stamp.fraction), (at_us, text.contains('.')), "{text}");
        }
    }

    #[test]
    fn what_is_no_moment_is_refused() {
        for text in [
            "",
            "10/Oct/2000:13:55:36",
            "10/Okt/2000:13:55:36 +0000",
            "31/Apr/2000:13:55:36 +0000",
            "29/Feb/2023:00:00:00 +0000",
            "00/Oct/2000:13:55:36 +0000",
            "10/Oct/2000:24:55:36 +0000",
            "10/Oct/2000:13:55:36 +0000 x",
            "10/Oct/2000:13:55:36. +0000",
            "10/Oct/2000:13:55:36 +2500",
            "10/Oct/20\u{e9}0:13:55:36 +0000",
            "2000-10-10 13:55:36Z",
        ] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn days_are_those_that_follow_each_other() {
        let mut expected = 0;
        for year in 1970..2110 {
            for month in 1..=12 {
                for day in (1..=31).filter(|day| is_day((year, month, *day))) {
                    assert_eq!(days(year, month, day), expected);
                    expected += 1;
                }
            }
        }
    }
}
