//! Tests of XML.

use super::*;
use proptest::prelude::*;

const SUITE: &str = "\u{feff}<?xml version=\"1.0\"?>\n\n<suites xmlns:n=\"u\">\n  <suite n:name='a'>\n    <case name=\"x\"/>\n    \
    <case name=\"y\"><failure message=\"&lt;no&gt;\">1 <b>&amp;</b><![CDATA[ <2]]></failure></case>\n  </suite>\n</suites>\n";

fn parse(text: &str) -> Result<Xml> {
    Xml::parse(&ParserInput::from_value(&text.into())).map(|root| root.as_object::<Xml>().expect("it is XML").clone())
}

fn names(root: &Xml, path: &str) -> Vec<String> {
    let found = root.select(path).expect("the path is good");
    found.iter().map(|xml| xml.as_object::<Xml>().expect("it is XML").element().name.to_string()).collect()
}

#[test]
fn elements_have_names_texts_lines_and_attributes() {
    let root = parse(SUITE).expect("it is XML");
    assert_eq!(
        (root.field("name"), root.field("line"), root.length()),
        (Ok("suites".into()), Ok(3_i64.into()), Some(1))
    );
    let failure = root.select("suite/case/failure").expect("the path is good").remove(0);
    let failure: &Xml = failure.as_object().expect("it is XML");
    assert_eq!((failure.field("text"), failure.field("line")), (Ok("1 & <2".into()), Ok(6_i64.into())));
    assert_eq!((failure.attribute("message").as_deref(), failure.attribute("name")), (Some("<no>"), None));
    let suite = root.item(0).expect("one child");
    assert_eq!(suite.as_object::<Xml>().and_then(|suite| suite.attribute("name")).as_deref(), Some("a"));
    assert_eq!(failure.to_json()["children"][0], json!({ "name": "b", "attributes": {}, "text": "&" }));
}

#[test]
fn paths_have_names_stars_and_double_stars() {
    let root = parse("<a><b><b><c/></b><c/></b><c/></a>").expect("it is XML");
    assert_eq!(names(&root, "b/c"), ["c"]);
    assert_eq!(names(&root, "*"), ["b", "c"]);
    assert_eq!(names(&root, "**/c").len(), 3);
    assert_eq!(names(&root, "**/b/**/c").len(), 2);
    assert_eq!(names(&root, "**"), ["a", "b", "b", "c", "c", "c"]);
    assert_eq!(names(&root, "x/**"), [""; 0]);
    assert!(root.select("/a").is_err_and(|error| error.code == Code::ARGUMENTS));
}

#[test]
fn faults_say_where() {
    let error = |text: &str| parse(text).err().map_or_else(String::new, |error| error.to_string());
    assert!(error("<a>\n  <b></a>").starts_with("text:2:"), "{}", error("<a>\n  <b></a>"));
    let entity = error("<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>");
    assert!(entity.starts_with("text:1:1: ") && entity.contains("a document type declaration"), "{entity}");
    assert!(error("").starts_with("text:1:1: "), "{}", error(""));
    let deep = error(&format!("{}{}", "<a>".repeat(100_000), "</a>".repeat(100_000)));
    assert!(deep.contains("levels deep"), "{deep}");
    let attributes: String = (0..50_000).map(|number| format!(" a{number}='='")).collect();
    assert!(
        error(&format!("<a><!--<b{attributes}>--><![CDATA[<b{attributes}>]]><b{attributes}/></a>"))
            .contains("attributes")
    );
}

#[test]
fn a_document_type_is_passed_over() {
    for text in [
        "<!DOCTYPE a><a/>",
        "<?xml version='1.0'?>\n<!DOCTYPE a SYSTEM \"http://example.org/[x].dtd\">\n<a/>",
        "<!DOCTYPE a PUBLIC '-//X//Y' 'y.dtd' [<!ELEMENT a EMPTY>]><a/>",
        "<!--><![CDATA[--><!DOCTYPE a><a/>",
        "<a b='&#9;&#x10FFFF;'>&#65;<!--&#0;--><![CDATA[&#0;]]><?p &#0;?></a>",
    ] {
        assert_eq!(parse(text).map(|root| root.at).ok(), Some(0), "{text}");
    }
    for text in [
        "<!--><![CDATA[--><!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>",
        "<!DOCTYPE a [<!ENTITY % x '<!ELEMENT a ANY>'>%x;]><a/>",
        "<!DOCTYPE a SYSTEM 'x.dtd'><a>&x;</a>",
        "<!DOCTYPE a [<!ATTLIST a b CDATA 'c'>]><a/>",
        "<a>&#xD800;</a>",
        "<a b='&#x110000;'/>",
        "<a>&#0;</a>",
        "<a>&#x99999999999;</a>",
    ] {
        assert!(parse(text).is_err(), "{text}");
    }
}

#[test]
fn no_attribute_hides_another_one() {
    let root = parse("<a xmlns:x='u:x' xmlns:y='u:y' x:n='1' n='2' y:n='3' m='4' y:o='5'/>").expect("it is XML");
    let attributes = json!({ "n": "2", "x:n": "1", "y:n": "3", "m": "4", "o": "5" });
    let found = root.to_json();
    assert_eq!(found["attributes"], attributes);
}

proptest! {
    //= docs/spec.md#robustness
    //= type=test
    //# A parser MUST NOT panic, whatever text it is given.
    #[test]
    fn it_never_panics(text in "(<a>|</a>|<b x='1'/>|\n|ö|&lt;|<!--x-->|<|&|<\\?x\\?>|<!DOCTYPE a>){0,20}") {
        if let Ok(root) = parse(&text) {
            for element in root.select("**").expect("the path is good") {
                let line = element.as_object::<Xml>().map(|xml| xml.element().line);
                prop_assert!(line <= Some(text.lines().count()));
            }
        }
    }
}
