//! Reads `toolsd.toml`: every key is known, every fault has its place.

use super::Settings;
use crate::definition::{LimitsOverride, Located};
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::source::{Place, Source};
use crate::value::Json;
use std::ops::Range;
use std::sync::Arc;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

const KEYS: [&str; 6] = ["serve", "prefixes", "roots", "limits", "packs", "server"];
const LIMITS: [&str; 5] = ["time_ms", "ticks", "memory_mb", "output_kb", "depth"];
const SERVER: [&str; 6] = ["name", "title", "website_url", "icons", "page_size", "lists_ttl_ms"];

struct Reader<'a> {
    source: &'a Arc<Source>,
    faults: Vec<Diagnostic>,
}

/// Reads the text to its end.
pub fn read(source: &Arc<Source>) -> (Settings, Vec<Diagnostic>) {
    let (table, broken) = DeTable::parse_recoverable(&source.text);
    let mut reader = Reader { source, faults: Vec::new() };
    for fault in broken {
        let at = source.place(fault.span().unwrap_or(0..0));
        reader.faults.push(*Diagnostic::new(Code("toml-syntax"), fault.message().to_owned()).at(at));
    }
    let settings = reader.settings(table.get_ref());
    (settings, reader.faults)
}

impl Reader<'_> {
    fn settings(&mut self, table: &DeTable<'_>) -> Settings {
        let mut settings = Settings::default();
        for (key, value) in table {
            match &**key.get_ref() {
                "serve" => settings.serve = Some(self.texts(value)),
                "roots" => settings.roots = self.texts(value).into_iter().map(|root| root.value).collect(),
                "prefixes" => {
                    for (pack, prefix, _) in self.entries(value) {
                        if let Some(text) = self.text(prefix) {
                            settings.prefixes.insert(pack, text);
                        }
                    }
                }
                "packs" => {
                    for (pack, table, at) in self.entries(value) {
                        let json = self.json(table);
                        settings.packs.insert(pack, Located { value: json, at });
                    }
                }
                "limits" => settings.limits = self.limits(value),
                "server" => self.server(value, &mut settings),
                other => self.unknown(other, key.span(), &KEYS),
            }
        }
        settings
    }

    fn limits(&mut self, value: &Spanned<DeValue<'_>>) -> LimitsOverride {
        let mut limits = LimitsOverride::default();
        for (name, value, at) in self.entries(value) {
            let slot = match name.as_str() {
                "time_ms" => &mut limits.time_ms,
                "ticks" => &mut limits.ticks,
                "memory_mb" => &mut limits.memory_mb,
                "output_kb" => &mut limits.output_kb,
                "depth" => &mut limits.depth,
                other => {
                    self.unknown(other, at.span, &LIMITS);
                    continue;
                }
            };
            *slot = self.count(value);
        }
        limits
    }

    fn server(&mut self, value: &Spanned<DeValue<'_>>, settings: &mut Settings) {
        for (name, value, at) in self.entries(value) {
            let server = &mut settings.server;
            match name.as_str() {
                "name" => server.name = self.text(value).map(|text| text.value),
                "title" => server.title = self.text(value).map(|text| text.value),
                "website_url" => server.website_url = self.text(value).map(|text| text.value),
                "icons" => server.icons = self.json(value).as_array().cloned().unwrap_or_default(),
                "page_size" => server.page_size = self.count(value).and_then(|count| usize::try_from(count).ok()),
                "lists_ttl_ms" => server.lists_ttl_ms = self.count(value),
                other => self.unknown(other, at.span, &SERVER),
            }
        }
    }

    fn place(&self, span: Range<usize>) -> Place {
        self.source.place(span)
    }

    fn unknown(&mut self, name: &str, span: Range<usize>, known: &[&str]) {
        let fault = Diagnostic::new(Code("unknown-key"), format!("`{name}` is not a key of `toolsd.toml`"));
        let help = did_you_mean(name, known.iter().copied()).unwrap_or_default();
        self.faults.push(*fault.at(self.place(span)).help(help));
    }

    fn wrong(&mut self, value: &Spanned<DeValue<'_>>, wanted: &str) {
        let message = format!("{wanted} belongs here, not {}", value.get_ref().type_str());
        self.faults.push(*Diagnostic::new(Code("wrong-type"), message).at(self.place(value.span())));
    }

    fn entries<'a, 'b>(&mut self, value: &'a Spanned<DeValue<'b>>) -> Vec<(String, &'a Spanned<DeValue<'b>>, Place)> {
        match value.get_ref().as_table() {
            Some(table) => {
                table.iter().map(|(key, value)| (key.get_ref().to_string(), value, self.place(key.span()))).collect()
            }
            None => {
                self.wrong(value, "a table");
                Vec::new()
            }
        }
    }

    fn text(&mut self, value: &Spanned<DeValue<'_>>) -> Option<Located<String>> {
        let text = value.get_ref().as_str().map(str::to_owned);
        if text.is_none() {
            self.wrong(value, "a text");
        }
        text.map(|text| Located { value: text, at: self.place(value.span()) })
    }

    fn texts(&mut self, value: &Spanned<DeValue<'_>>) -> Vec<Located<String>> {
        match value.get_ref().as_array() {
            Some(items) => items.iter().filter_map(|item| self.text(item)).collect(),
            None => {
                self.wrong(value, "a list of texts");
                Vec::new()
            }
        }
    }

    fn count(&mut self, value: &Spanned<DeValue<'_>>) -> Option<u64> {
        let count = value.get_ref().as_integer().and_then(|number| number.as_str().parse().ok());
        if count.is_none() {
            self.wrong(value, "a whole number above zero");
        }
        count.filter(|count| *count > 0)
    }

    /// Any value as JSON; a date, and a number that JSON cannot hold, is a fault.
    fn json(&mut self, value: &Spanned<DeValue<'_>>) -> Json {
        match value.get_ref() {
            DeValue::String(text) => Json::from(text.as_ref()),
            DeValue::Boolean(flag) => Json::from(*flag),
            DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
                Ok(number) => Json::from(number),
                Err(_) => self.no_json(value),
            },
            DeValue::Float(number) => match number.as_str().parse::<f64>() {
                Ok(number) if number.is_finite() => Json::from(number),
                _ => self.no_json(value),
            },
            DeValue::Array(items) => items.iter().map(|item| self.json(item)).collect(),
            DeValue::Table(table) => {
                let pairs = table.iter().map(|(key, value)| (key.get_ref().to_string(), self.json(value)));
                Json::Object(pairs.collect())
            }
            DeValue::Datetime(_) => self.no_json(value),
        }
    }

    fn no_json(&mut self, value: &Spanned<DeValue<'_>>) -> Json {
        self.wrong(value, "something that JSON can hold");
        Json::Null
    }
}
