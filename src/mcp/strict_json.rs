//! Strict reader of JSON: refuses duplicate keys, a byte order mark, numbers out of range, and too many or too deeply
//! nested values. Readers disagree about these, so a proxy or a log might see another message.

use crate::parse::{OVERSIZED_INTEGER_HELP, find_oversized_integer, may_be_rounded};
use crate::value::Json;
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number};
use std::cell::Cell;
use std::fmt;

/// How deep arrays and objects may be nested: the limit of `serde_json`, which enforces it.
const MAX_DEPTH: usize = 127;

/// How many values a message may have: a value of two bytes in JSON takes far more memory.
const MAX_VALUES: usize = 500_000;

/// Why JSON is refused.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum UnreadableJson {
    /// It is not valid JSON (RFC 8259), or nested too deeply.
    Syntax(String),
    /// A key occurs twice in one object, which has no defined meaning (RFC 8259, section 4).
    DuplicateKey(String),
    TooManyValues,
    /// A number is too large, or an integer would silently be rounded (RFC 8259, section 6).
    NumberOutOfRange(String),
}

/// Reads one JSON text.
///
/// # Errors
/// The text is not JSON, or JSON that is refused.
pub(crate) fn read_json(text: &[u8]) -> Result<Json, UnreadableJson> {
    if text.starts_with(b"\xef\xbb\xbf") {
        //= docs/spec.md#protocol
        //# A message with duplicate keys, numbers out of range, more than 127 levels or more than 500,000
        //# values MUST be refused.
        return Err(UnreadableJson::Syntax(
            "it begins with a byte order mark, which JSON on the wire must not have".to_owned(),
        ));
    }
    let mut reader = serde_json::Deserializer::from_slice(text);
    let (left, is_rounded) = (Cell::new(MAX_VALUES), Cell::new(false));
    let strict = StrictReader { left: &left, is_rounded: &is_rounded };
    let read = strict.deserialize(&mut reader).and_then(|json| reader.end().map(|()| json));
    if read.is_ok()
        && is_rounded.get()
        && let Ok(Ok(Some(beyond))) = std::str::from_utf8(text).map(find_oversized_integer)
    {
        let why = format!("{} ({})", beyond.message, OVERSIZED_INTEGER_HELP);
        return Err(UnreadableJson::NumberOutOfRange(why));
    }
    read.map_err(|error| match error.classify() {
        _ if error.to_string().starts_with("number out of range") => UnreadableJson::NumberOutOfRange(format!(
            "a number is larger than 1.7976931348623157e308 ({error}): send a smaller one, or a string"
        )),
        serde_json::error::Category::Data if left.get() == 0 => UnreadableJson::TooManyValues,
        serde_json::error::Category::Data => UnreadableJson::DuplicateKey(error.to_string()),
        _ if error.to_string().starts_with("recursion limit") => {
            UnreadableJson::Syntax(format!("it is nested more than {MAX_DEPTH} levels deep"))
        }
        _ => UnreadableJson::Syntax(error.to_string()),
    })
}

/// The member `name` of an object in JSON that is refused, if it comes before the error. All other members are skipped
/// without being read, so that half a surrogate pair, for instance, hides nothing.
pub(crate) fn read_member(text: &[u8], name: &str) -> Option<Json> {
    let found = Cell::new(None);
    let mut reader = serde_json::Deserializer::from_slice(text);
    // What is wrong is known already.
    let _ = serde::Deserializer::deserialize_map(&mut reader, MemberReader { name, found: &found });
    found.take()
}

/// Keeps one member of an object.
struct MemberReader<'a> {
    name: &'a str,
    found: &'a Cell<Option<Json>>,
}

impl<'de> Visitor<'de> for MemberReader<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(key) = members.next_key::<String>()? {
            if key == self.name {
                self.found.set(Some(members.next_value()?));
            } else {
                members.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

/// Deserializes any value, as long as the limit of values is not reached.
#[derive(Clone, Copy)]
struct StrictReader<'a> {
    left: &'a Cell<usize>,
    is_rounded: &'a Cell<bool>,
}

impl<'de> DeserializeSeed<'de> for StrictReader<'_> {
    type Value = Json;

    fn deserialize<D: serde::Deserializer<'de>>(self, reader: D) -> Result<Json, D::Error> {
        match self.left.get().checked_sub(1) {
            Some(left) => self.left.set(left),
            None => return Err(D::Error::custom("too many values")),
        }
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for StrictReader<'_> {
    type Value = Json;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        if i64::try_from(value).is_err() {
            self.is_rounded.set(true);
        }
        Ok(Json::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        if may_be_rounded(value) {
            self.is_rounded.set(true);
        }
        Ok(Number::from_f64(value).map_or(Json::Null, Json::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Json, E> {
        Ok(Json::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            list.push(item);
        }
        Ok(Json::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut pairs: A) -> Result<Json, A::Error> {
        let mut map = Map::new();
        while let Some(key) = pairs.next_key::<String>()? {
            if map.contains_key(&key) {
                return Err(A::Error::custom(format!("the key {} occurs twice", Json::from(key))));
            }
            map.insert(key, pairs.next_value_seed(self)?);
        }
        Ok(Json::Object(map))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn duplicate_key(text: &str) -> String {
        match read_json(text.as_bytes()) {
            Err(UnreadableJson::DuplicateKey(why)) => why,
            other => panic!("{text}: {other:?}"),
        }
    }

    //= docs/spec.md#protocol
    //= type=test
    //# A message with duplicate keys, numbers out of range, more than 127 levels or more than 500,000 values
    //# MUST be refused.
    #[test]
    fn duplicate_keys_are_refused_at_any_depth() {
        for text in [
            r#"{"method":"a","method":"b"}"#,
            r#"{"method":"a","method":"a"}"#,
            r#"{"method":"a","me\u0074hod":"b"}"#,
            r#"{"params":{"name":"a","method":1,"method":2}}"#,
            r#"[[{"x":[{"method":1,"y":2,"method":3}]}]]"#,
        ] {
            assert!(duplicate_key(text).starts_with("the key \"method\" occurs twice"), "{text}");
        }
        assert!(read_json(br#"{"a":{"b":1},"b":[{"a":1},{"a":2}]}"#).is_ok());
    }

    #[test]
    fn what_is_too_deep_or_marked_is_refused() {
        let nested = |depth: usize| ["[".repeat(depth), "]".repeat(depth)].concat();
        assert!(read_json(nested(MAX_DEPTH).as_bytes()).is_ok());
        let why = UnreadableJson::Syntax("it is nested more than 127 levels deep".to_owned());
        assert_eq!(read_json(nested(MAX_DEPTH + 1).as_bytes()), Err(why));
        assert!(matches!(read_json(nested(1_000_000).as_bytes()), Err(UnreadableJson::Syntax(_))));
        let Err(UnreadableJson::Syntax(why)) = read_json("\u{feff}{}".as_bytes()) else { panic!() };
        assert!(why.contains("byte order mark"));
        let utf16: Vec<u8> = "{}".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert!(matches!(read_json(&utf16), Err(UnreadableJson::Syntax(_))));
    }

    #[test]
    fn what_has_too_many_values_is_refused() {
        let list = |count: usize| format!("[{}0]", "0,".repeat(count - 1));
        // The list itself is one.
        assert!(read_json(list(MAX_VALUES - 1).as_bytes()).is_ok());
        assert_eq!(read_json(list(MAX_VALUES).as_bytes()), Err(UnreadableJson::TooManyValues));
        assert_eq!(
            read_json(format!("[{0},{0},{0}]", list(MAX_VALUES / 2)).as_bytes()),
            Err(UnreadableJson::TooManyValues)
        );
    }

    #[test]
    fn a_number_that_would_be_rounded_is_refused_with_the_way_to_it() {
        for number in ["9223372036854775808", "18446744073709551616", "-9223372036854775809", "123456789012345678901"] {
            let read = read_json(format!(r#"{{"id":7,"params":{{"arguments":{{"id":{number}}}}}}}"#).as_bytes());
            let Err(UnreadableJson::NumberOutOfRange(why)) = read else { panic!("{number}: {read:?}") };
            assert!(why.starts_with(&format!("the whole number {number} at `.params.arguments.id` is")), "{why}");
        }
        assert!(read_json(br#"{"a":[9223372036854775807,-9223372036854775808,1e30,"9223372036854775808"]}"#).is_ok());
    }

    #[test]
    fn a_number_beyond_floats_is_refused() {
        for number in ["1e400", "-1e400", "1E+999999999999", &"9".repeat(400)] {
            for (begin, end) in [(r#"{"id":7,"params":"#, "}"), (r#"{"params":[{"a":"#, r#"}],"id":7}"#)] {
                let read = read_json([begin, number, end].concat().as_bytes());
                assert!(matches!(&read, Err(UnreadableJson::NumberOutOfRange(_))), "{number}: {read:?}");
            }
        }
    }

    //= docs/spec.md#protocol
    //= type=test
    //# A message that is refused MUST be answered with its id if that comes before the error.
    #[test]
    fn the_id_of_a_refused_message_is_found() {
        let rows = [
            (r#"{"id":7,"params":1e400}"#, Some(7)),
            (r#"{"params":[{"a":1e400}],"id":7}"#, Some(7)),
            (r#"{"id":7,"params":{"a":"\ud800"}}"#, Some(7)),
            (r#"{"params":{"a":"\ud800","id":8},"id":7}"#, Some(7)),
            (r#"{"id":7,"method":"ping""#, Some(7)),
            (r#"{"id":7,"a":1,"a":2}"#, Some(7)),
            (r#"{"method":"ping","id":"#, None),
            (r#"{"method":"ping" "id":7}"#, None),
            (r#"[{"id":7}]"#, None),
            ("7", None),
            ("", None),
        ];
        for (text, id) in rows {
            assert_eq!(read_member(text.as_bytes(), "id"), id.map(Json::from), "{text}");
        }
        let deep = format!(r#"{{"id":7,"params":{}1{}}}"#, "[".repeat(200), "]".repeat(200));
        assert_eq!(read_member(deep.as_bytes(), "id"), Some(Json::from(7)));
    }

    proptest! {
        #[test]
        fn it_reads_what_serde_json_reads(text in r#"[\[\]{}:,"a-c0-9eE.+\\ -]{0,24}"#) {
            let usual = serde_json::from_str::<Json>(&text).ok();
            match read_json(text.as_bytes()) {
                Ok(ours) => prop_assert_eq!(Some(ours), usual),
                Err(UnreadableJson::Syntax(_)) => prop_assert_eq!(None, usual),
                Err(UnreadableJson::DuplicateKey(_)) => prop_assert!(text.matches('"').count() >= 4),
                Err(UnreadableJson::NumberOutOfRange(why)) => prop_assert!(text.len() >= 19, "{}: {}", text, why),
                Err(UnreadableJson::TooManyValues) => prop_assert!(false, "so short a text has few values"),
            }
        }
    }
}
