//! Times as milliseconds and as text, in UTC.

use crate::diagnostic::{Code, Diagnostic, Result};
use jiff::civil::{Date, DateTime, Time};
use jiff::fmt::strtime::BrokenDownTime;
use jiff::tz::{Offset, TimeZone};
use jiff::{SignedDuration, Timestamp};
use std::ops::Range;

/// Formats a time in a strftime format or as RFC 3339. `milliseconds` count from 1970-01-01T00:00:00Z.
pub fn format(milliseconds: i64, format: Option<&str>) -> Result<String> {
    let Ok(time) = Timestamp::from_millisecond(milliseconds) else { return format_last(milliseconds, format) };
    let Some(format) = format else { return Ok(time.to_string()) };
    let written = |part: &str, time: Timestamp| {
        let written = jiff::fmt::strtime::format(part, &time.to_zoned(TimeZone::UTC));
        written.map_err(|error| no_format(format, &error))
    };
    // The library truncates seconds since 1970 towards zero: before 1970, `%s` would be a second later than `%S`.
    let begun = Timestamp::from_second(milliseconds.div_euclid(1_000)).unwrap_or(time);
    let mut text = String::new();
    let mut from = 0;
    for seconds in seconds_since_1970(format) {
        text.push_str(&written(&format[from..seconds.start], time)?);
        text.push_str(&written(&format[seconds.clone()], begun)?);
        from = seconds.end;
    }
    text.push_str(&written(&format[from..], time)?);
    Ok(text)
}

fn no_format(format: &str, error: &jiff::Error) -> Box<Diagnostic> {
    Diagnostic::new(Code::ARGUMENTS, format!("`{format}` is not a time format: {error}"))
        .help("formats are those of strftime, such as `%Y-%m-%d %H:%M:%S`")
}

/// Formats a time on the first or last day of the calendar. The library excludes these days, since in another time zone
/// they could be in another year.
fn format_last(milliseconds: i64, format: Option<&str>) -> Result<String> {
    let time = epoch().checked_add(SignedDuration::from_millis(milliseconds)).map_err(|_| {
        Diagnostic::new(Code::ARGUMENTS, format!("{milliseconds} ms is out of the range of times"))
            .help("years -9999 to 9999 can be written")
    })?;
    let mut parts = BrokenDownTime::from(time);
    parts.set_offset(Some(Offset::UTC));
    match format {
        None => Ok(format!("{time}Z")),
        Some(format) => parts.to_string(format).map_err(|error| no_format(format, &error)),
    }
}

/// 1970 as a date and a time of day.
const fn epoch() -> DateTime {
    DateTime::constant(1970, 1, 1, 0, 0, 0, 0)
}

/// The ranges of `%s` in a strftime format, including flags and a width.
fn seconds_since_1970(format: &str) -> Vec<Range<usize>> {
    let bytes = format.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = memchr::memchr(b'%', &bytes[at..]).map(|next| at + next) {
        let is_between = |byte: &&u8| matches!(byte, b'-' | b'_' | b'^' | b'#' | b':' | b'0'..=b'9');
        let letter = start + 1 + bytes[start + 1..].iter().take_while(is_between).count();
        at = bytes.len().min(letter + 1);
        if bytes.get(letter) == Some(&b's') {
            found.push(start..at);
        }
    }
    found
}

/// Parses a time as RFC 3339 and returns its milliseconds. Without an offset it is in UTC, a date is its midnight, and
/// seconds are optional. Fails for all other forms: the parser below accepts many more, and ignores some parts (zones
/// in brackets).
pub fn parse(text: &str) -> Result<i64> {
    let refused = |why: &str| {
        let shown = text.get(..text.floor_char_boundary(MAX_TIME_BYTES)).unwrap_or_default();
        Diagnostic::new(Code("parse.time"), format!("`{shown}` is not a time{why}"))
            .help("write it as `2026-01-31T12:00:00Z`, `2026-01-31T12:00:00.5+01:00` or `2026-01-31`")
    };
    if text.len() > MAX_TIME_BYTES || !has_form(text.as_bytes()) {
        return Err(refused(" of RFC 3339"));
    }
    let clock = text.get(10..).unwrap_or_default();
    let (time, offset) = text.split_at(clock.find(['Z', 'z', '+', '-']).map_or(text.len(), |at| 10 + at));
    let time = match clock {
        "" => text.parse::<Date>().map(|date| date.to_datetime(Time::midnight())),
        _ => time.parse::<DateTime>(),
    };
    let time = time.map_err(|error| refused(&format!(": {error}")))?;
    // Fractions of a millisecond are truncated, before 1970, too.
    let milliseconds = time.duration_since(epoch()).as_nanos().div_euclid(1_000_000);
    Ok(i64::try_from(milliseconds).unwrap_or(0) - offset_of(offset))
}

/// The milliseconds of a well-formed offset: `Z`, `+01:00`, or empty.
fn offset_of(offset: &str) -> i64 {
    let number = |range: Range<usize>| offset.get(range).and_then(|digits| digits.parse::<i64>().ok()).unwrap_or(0);
    let minutes = number(1..3) * 60 + number(4..6);
    60_000 * if offset.starts_with('-') { -minutes } else { minutes }
}

/// Maximum length of a time, in bytes.
const MAX_TIME_BYTES: usize = 40;

/// Returns whether a text has one of the forms: a date; or a date, `T` or a space, a time of day, and an optional
/// offset.
fn has_form(text: &[u8]) -> bool {
    let is_like = |part: &[u8], form: &[u8]| {
        let fits = |(byte, form): (&u8, &u8)| if *form == b'0' { byte.is_ascii_digit() } else { byte == form };
        part.len() == form.len() && part.iter().zip(form).all(fits)
    };
    let Some((date, rest)) = text.split_at_checked(10) else { return false };
    if !is_like(date, b"0000-00-00") {
        return false;
    }
    let [separator, rest @ ..] = rest else { return true };
    let Some((minutes, rest)) = rest.split_at_checked(5) else { return false };
    if !matches!(separator, b'T' | b't' | b' ') || !is_like(minutes, b"00:00") {
        return false;
    }
    let (seconds, offset) = rest.split_at(rest.iter().position(|byte| b"Zz+-".contains(byte)).unwrap_or(rest.len()));
    let has_seconds = match seconds {
        [] => true,
        [_, _, _] => is_like(seconds, b":00"),
        [whole @ .., _] if whole.len() >= 3 => {
            let (whole, fraction) = seconds.split_at(3);
            let digits = fraction.strip_prefix(b".").unwrap_or_default();
            is_like(whole, b":00") && (1..=9).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit)
        }
        _ => false,
    };
    let has_offset = match offset {
        [] | [b'Z' | b'z'] => true,
        [b'+' | b'-', clock @ ..] => is_like(clock, b"00:00") && clock < &b"24:00"[..] && clock[3] < b'6',
        _ => false,
    };
    has_seconds && has_offset
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_before_1970_are_those_that_have_begun() {
        let reported = |milliseconds, how| format(milliseconds, Some(how)).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(reported(-500, "%s %S.%3f %F"), "-1 59.500 1969-12-31");
        assert_eq!(reported(-500, "%% s%%s %s %-s|%5s|%%%s"), "% s%s -1 -1|   -1|%-1");
        assert_eq!(
            (reported(-1_000, "%s"), reported(-1_001, "%s"), reported(1_999, "%s")),
            ("-1".into(), "-2".into(), "1".into())
        );
        assert_eq!(reported(0, "%Y年%s"), "1970年0");
        assert_eq!((parse("1969-12-31T23:59:59.9999Z"), parse("1970-01-01T00:00:00.0009Z")), (Ok(-1), Ok(0)));
        assert!(format(0, Some("%")).is_err() && format(0, Some("%5")).is_err());
    }

    #[test]
    fn the_whole_of_the_last_day_is_a_time() {
        let last = 253_402_300_799_999;
        assert_eq!(format(last, None).as_deref(), Ok("9999-12-31T23:59:59.999Z"));
        assert_eq!(format(last, Some("%F %T.%3f %z")).as_deref(), Ok("9999-12-31 23:59:59.999 +0000"));
        assert!(
            format(last + 1, None).is_err() && format(i64::MAX, Some("%F")).is_err() && format(i64::MIN, None).is_err()
        );
        assert_eq!(parse("9999-12-31"), Ok(253_402_214_400_000));
        assert_eq!(parse("9999-12-31T12:00:00+13:00"), Ok(253_402_210_800_000));
        assert_eq!(parse("2026-01-01T00:00:00-23:59"), Ok(1_767_311_940_000));
        for text in ["9999-12-31T23:59:59.999Z", "0001-01-01T00:00:00Z", "9999-12-30T22:00:00.001Z"] {
            assert_eq!(parse(text).and_then(|time| format(time, None)).as_deref(), Ok(text));
        }
    }

    #[test]
    fn the_forms_of_rfc_3339_are_read_and_no_others() {
        for (text, milliseconds) in [
            ("2026-01-01", 1_767_225_600_000),
            ("2026-01-01T00:00:00Z", 1_767_225_600_000),
            ("2026-01-01t00:00:00z", 1_767_225_600_000),
            ("2026-01-01 00:00", 1_767_225_600_000),
            ("2026-01-01T00:00Z", 1_767_225_600_000),
            ("2026-01-01T00:00:00.123456789", 1_767_225_600_123),
            ("2026-01-01T01:00:00+01:00", 1_767_225_600_000),
            ("2025-12-31T23:59:60Z", 1_767_225_599_000),
        ] {
            assert_eq!(parse(text), Ok(milliseconds), "{text}");
        }
        for text in [
            "",
            "noon",
            "2026",
            "2026-1-1",
            "20260101",
            "+002026-01-01",
            "-0001-01-01",
            "10000-01-01",
            "2026-001",
            "2026-W01-1",
            "2026-02-29",
            "2026-13-01",
            "2026-01-01Z",
            "2026-01-01T",
            "2026-01-01T12",
            "2026-01-01T12:00:",
            "2026-01-01T12:00:0",
            "20260101T120000Z",
            "2026-01-01T24:00:00Z",
            "2026-01-01T12:00:00,5Z",
            "2026-01-01T12:00:00.Z",
            "2026-01-01T12:00:00+01",
            "2026-01-01T12:00:00.1234567891Z",
            "2026-01-01T12:00:00+0100",
            "2026-01-01T12:00:00+25:00",
            "2026-01-01T12:00:00+01:60",
            "2026-01-01T12:00:00+01:00:30",
            "2026-01-01[UTC]",
            "2026-01-01T12:00:00Z[Europe/Berlin]",
            " 2026-01-01",
            "2026-01-01 ",
            "2026-01-01T12:00:00 Z",
            "2026-01-01T12:00:00ö",
            "２026-01-01",
        ] {
            let error = parse(text).expect_err(text);
            assert!(
                error.message.len() < 200 && error.help.is_some_and(|help| help.contains("`2026-01-31`")),
                "{text}"
            );
        }
        assert!(parse(&"1".repeat(1 << 20)).is_err_and(|error| error.message.len() < 200));
    }
}
