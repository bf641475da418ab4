//! Tests of outlines.

use super::*;
use proptest::prelude::*;

fn read(path: &str, text: &str, layout: BlockLayout) -> Vec<String> {
    let found = outline(&Document::new(path, text), layout).expect("no guard").into_iter();
    found
        .map(|entry| {
            let entry = entry.to_json();
            let word = |name: &str| entry[name].as_str().unwrap_or("-").to_owned();
            format!("{} {} {}-{} {}", word("kind"), word("name"), entry["line"], entry["end_line"], word("parent"))
        })
        .collect()
}

#[test]
fn python() {
    let text = "import x\n\nclass A(B):\n    \"\"\"def no():\n    class No:\n    \"\"\"\n    def one(self,\n  odd=1):\n        return '#' + f(\n1)\n    # comment\n\n\
        \x20   @p\n    async def two(self):\n\tdef inner(): pass\n\tx = 'it\\'s'\n\ndef three() -> int:\n    return \\\n0\n\nx = 1\ndefine(y)\n";
    assert_eq!(
        read("a.py", text, BlockLayout::Indent),
        [
            "class A 3-16 -",
            "method one 7-10 A",
            "method two 14-16 A",
            "function inner 15-15 A.two",
            "function three 18-20 -",
        ]
    );
}

#[test]
fn rust() {
    let text = "#[derive(Debug)]\npub struct Ring<'a> {\n    text: &'a str,\n}\n\nimpl<'a, T: Fn(u8) -> u8> fmt::Display for Ring<'a>\nwhere\n    T: X,\n{\n    \
        fn fmt<'b>(&self, f: &'b mut F<'_>) -> Result {\n        let c = '{'; let d = '\\''; let r = r#\"}\"{\"#; // }\n        if x { y() } else { z }\n        match x { _ => {} }\n    }\n}\n\n\
        mod tests {\n    #[test]\n    fn one() {\n        let f = |x| { x };\n        fn two() { }\n    }\n}\ntrait T { fn no(&self); fn yes() {} }\nconst fn array() -> [u8; 3] { [1; 3] }\n";
    assert_eq!(
        read("a.rs", text, BlockLayout::Braces),
        [
            "class Ring 2-4 -",
            "class Ring 6-15 -",
            "method fmt 10-14 Ring",
            "function one 19-22 -",
            "function two 21-21 one",
            "class T 24-24 -",
            "method yes 24-24 T",
            "function array 25-25 -",
        ]
    );
}

#[test]
fn typescript() {
    let text = "import { a } from 'b';\nexport default class A extends B {\n  #x = 1;\n  constructor(private y: number) { super(); }\n  \
        async get<T>(a: { b: T } = { b: 1 }): Promise<{ c: T }> {\n    if (a) { return /[\"'{/]/.test(`${a} {`); }\n  }\n  static of = (x) => {\n    return x;\n  };\n}\n\
        function* gen() { }\nconst f = async (x: number): Promise<void> => {\n  it('works {', () => {\n    function inner() { }\n  });\n};\nlet o = { a: { b: 1 } };\nfor (const x of y) { z(); }\n\
        module.exports.h = function () { };\n";
    assert_eq!(
        read("a.ts", text, BlockLayout::Braces),
        [
            "class A 2-11 -",
            "method constructor 4-4 A",
            "method get 5-7 A",
            "method of 8-10 A",
            "function gen 12-12 -",
            "function f 13-17 -",
            "function inner 15-15 f",
            "function h 20-20 -",
        ]
    );
}

#[test]
fn java_go_and_c() {
    let java = "@Service(\"{\")\npublic final class A<T> implements B {\n  @a.Test(x = 1)\n  public <T> void run(int x) throws E {\n    new Thread() { }; switch (x) { case 1: }\n  }\n  \
        int[] y = new int[] { 1 };\n  enum C { D, E; }\n  String s = \"\"\"\n  } \"\n  \"\"\";\n}\n";
    assert_eq!(read("A.java", java, BlockLayout::Braces), ["class A 2-12 -", "method run 4-6 A", "class C 8-8 A"]);
    let go = "package a\n\ntype Ring struct {\n\tx int\n}\n\nfunc (r *Ring) turn(n int) (int, error) {\n\tif x := f(); x { }\n\treturn `}`\n}\n\nfunc main() {\n\tgo func() { }()\n}\n";
    assert_eq!(
        read("a.go", go, BlockLayout::Braces),
        ["class Ring 3-5 -", "method turn 7-10 Ring", "function main 12-14 -"]
    );
    let c = "#include <a.h>\n#define X(a) { \\\n  {\nstruct ring { int x; };\nstruct ring *\nmake(void)\n{\n  while (1) { }\n  struct ring r = { 1 };\n}\n\
        namespace n {\nRing::Ring(int a) : x(a), y(b) {\n}\nint Ring::turn() const { return '}'; }\n}\n";
    assert_eq!(
        read("a.cpp", c, BlockLayout::Braces),
        ["class ring 4-4 -", "function make 6-10 -", "method Ring 12-13 Ring", "method turn 14-14 Ring"]
    );
}

proptest! {
    #[test]
    fn lines_lie_within_the_text(
        parts in prop::collection::vec(prop::sample::select(vec![
            "fn a", "class B", "(", ")", "{", "}", "[", "]", "\n", "\n  ", "\n\t", "'", "\"", "\"\"\"", "`", "/", "//", "/*", "*/", "\\", "é", "impl", " for ",
            "func (r R) x()", "=", "=>", "<", ">", ":", ";", "def a():", "class B:", "#", "#define", "r#\"", "::", "@", ".", ",", "'a", " ",
        ]), 0..40),
        path in prop::sample::select(vec!["a.rs", "a.ts", "a"]),
    ) {
        let text = parts.concat();
        let document = Document::new(path, text.as_str());
        for layout in [BlockLayout::Indent, BlockLayout::Braces] {
            let mut last = 0;
            for entry in outline(&document, layout).expect("no guard") {
                let entry = entry.to_json();
                let (from, to) = (entry["line"].as_u64().unwrap_or(0), entry["end_line"].as_u64().unwrap_or(0));
                prop_assert!(0 < from && from <= to && to <= text.lines().count() as u64, "{entry} {text:?}");
                if layout == BlockLayout::Indent {
                    prop_assert!(last < from);
                }
                last = from;
            }
        }
    }

    #[test]
    fn any_text_will_do(text in any::<String>()) {
        for layout in [BlockLayout::Indent, BlockLayout::Braces] {
            outline(&Document::new("a", text.as_str()), layout).expect("no guard");
        }
    }
}
