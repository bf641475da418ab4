//! Times as milliseconds and as text, in UTC.

use crate::diagnostic::{Code, Diagnostic, Result};
use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;

/// A time by a format of strftime, or as RFC 3339. `milliseconds` count from 1970-01-01T00:00:00Z.
pub fn format(milliseconds: i64, format: Option<&str>) -> Result<String> {
    let time = Timestamp::from_millisecond(milliseconds).map_err(|_| {
        Diagnostic::new(Code::ARGUMENTS, format!("{milliseconds} ms is out of the range of times"))
            .help("years -9999 to 9999 can be written")
    })?;
    let Some(format) = format else { return Ok(time.to_string()) };
    jiff::fmt::strtime::format(format, &time.to_zoned(TimeZone::UTC)).map_err(|error| {
        Diagnostic::new(Code::ARGUMENTS, format!("`{format}` is no format of a time: {error}"))
            .help("formats are those of strftime, such as `%Y-%m-%d %H:%M:%S`")
    })
}

/// The milliseconds of a time as RFC 3339. Without an offset it is in UTC; a date is its midnight.
pub fn parse(text: &str) -> Result<i64> {
    let time = text
        .parse::<Timestamp>()
        .or_else(|_| {
            text.parse::<DateTime>().and_then(|time| time.to_zoned(TimeZone::UTC)).map(|time| time.timestamp())
        })
        .or_else(|_| text.parse::<Date>().and_then(|date| date.to_zoned(TimeZone::UTC)).map(|time| time.timestamp()));
    time.map(Timestamp::as_millisecond).map_err(|error| {
        Diagnostic::new(Code("parse.time"), format!("`{text}` is no time: {error}"))
            .help("write it as `2026-01-31T12:00:00Z` or `2026-01-31`")
    })
}
