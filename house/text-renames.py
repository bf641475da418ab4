#!/usr/bin/env python3
"""Names of the rooms primitive, parse, pattern, letters and likeness that other rooms use: renamed in code, never in strings.
Usage: text-renames.py WORKTREE   (run it twice and nothing more happens; comments keep their words but for [`links`])"""
import re, sys, glob, os
ROOT = sys.argv[1].rstrip('/') + '/'
TOK = re.compile(r'''(?P<c>//[^\n]*|/\*.*?\*/)|(?P<s>b?r(?P<h>\#*)".*?"(?P=h)|b?"(?:\\.|[^"\\])*"|b?'(?:\\.[^']*|[^'\\])')''', re.S)
def pieces(s):
    at = 0
    for m in TOK.finditer(s):
        yield 'code', s[at:m.start()]
        yield ('comment' if m.group('c') else 'string'), m.group(0)
        at = m.end()
    yield 'code', s[at:]
def rename(path, rules):
    s = open(path).read()
    out = []
    for kind, x in pieces(s):
        if kind == 'code':
            for a, b in rules: x = re.sub(a, b, x)
        elif kind == 'comment':
            def link(m):
                y = m.group(0)
                for a, b in rules: y = re.sub(a, b, y)
                return y
            x = re.sub(r'\[`[^`\n]+`\]', link, x)
        out.append(x)
    n = ''.join(out)
    if n != s: open(path, 'w').write(n)
def files(*patterns): return sorted({f for p in patterns for f in glob.glob(ROOT + p, recursive=True)})
ALL = files('src/**/*.rs', 'tests/**/*.rs', 'fuzz/**/*.rs', 'benches/**/*.rs')
def using(what):
    return [f for f in ALL if re.search(what, open(f).read())]
w = lambda name: r'(?<![\w])' + name + r'(?![\w])'
# 1. The tree of a TOML text.
for f in files('src/definition.rs', 'src/definition/**/*.rs', 'src/parse/toml.rs', 'src/primitives/parse_toml.rs'):
    rename(f, [(w('Node'), 'TomlNode'), (w('Entry'), 'TomlEntry'), (r'(?<!::)(?<!\w)Item::(?=Scalar|List|Table)', 'TomlItem::'),
               (r'(?<=[{ ,])Item(?=[,}]\s?)(?![^{]*=)', 'TomlItem')])
rename(ROOT + 'src/parse/toml.rs', [(r'enum Item\b', 'enum TomlItem'), (r'item: Item\b', 'item: TomlItem')])
# 2. Questions to a client.
Q = using(r'primitive::(\{[^}]*)?\b(Wish|Asked)\b|QuestionKind|\bWish::|, Wish\)') + files('src/primitive.rs', 'src/primitive/*.rs')
for f in Q:
    rename(f, [(w('Wish'), 'QuestionKind'), (w('Asked'), 'AskedQuestion'), (r'\.wish\.told\(', '.kind.answer_value('), (r'\.wish\.problem\(', '.kind.answer_problem('), (r'\bwish\.problem\(', 'wish.answer_problem('),
               (r'\.wish\b', '.kind'), (r'Question \{ wish: ', 'Question { kind: '), (r'Question \{ wish,', 'Question { kind: wish,'), (r'\blacking\b', 'missing_capability')])
for f in using(r'\blacking\b'): rename(f, [(r'\blacking\b(?=\(|,|\}|;)', 'missing_capability')])
# 3. What a schema does not allow; the memory of a pack; lists.
for f in using(r'primitive::(\{[^}]*)?\bViolation\b') + files('src/primitive.rs', 'src/primitive/*.rs'): rename(f, [(w('Violation'), 'SchemaViolation')])
for f in using(r'primitive::\{[^}]*\bMemory\b') + files('src/primitive.rs', 'src/primitive/*.rs'):
    if re.search(r'\bMemory as Remembers\b', open(f).read()):
        rename(f, [(r'\bMemory as Remembers\b', 'PackMemory'), (r'\bRemembers\b', 'PackMemory')])
    else:
        rename(f, [(r'(?<!Family::)(?<!Self::)(?<!world::memory::)(?<!memory::memory::)\bMemory\b(?!,\n    Render)', 'PackMemory')])
for f in using(r'primitive::(\{[^}]*)?\bListed\b') + files('src/primitive.rs', 'src/primitive/*.rs'): rename(f, [(w('Listed'), 'ListKind')])
# 4. Patterns.
for f in using(r'Pattern::of\b'): rename(f, [(r'\bPattern::of\b', 'Pattern::compile_cached')])
# 5. The input of parsers.
for f in using(r'parse::(\{[^}]*)?\bInput\b|input::Input|parse::(\{[^}]*)?\bTEXTS\b') + files('src/parse.rs', 'src/parse/**/*.rs', 'src/edit/**/*.rs'):
    if '/mcp/' in f: continue
    rename(f, [(r'\bInput::of\b', 'ParserInput::from_value'), (r'(?<!::)(?<!input::)\bInput\b(?!\()', 'ParserInput'), (r'(?<=input::)Input\b', 'ParserInput'), (r'(?<=parse::)Input\b', 'ParserInput'), (w('TEXTS'), 'TEXT_KINDS')])
# 6. Verbs of git.
for f in using(r'primitive::(\{[^}]*)?\bgit\b') + files('src/primitive/git.rs', 'src/primitive/git/*.rs'):
    rename(f, [(r'\bgit::find\b', 'git::find_verb'), (r'\bgit::unknown\b', 'git::unknown_option'), (r'\bgit::reading\b', 'git::read_verbs'), (r'\bgit::writing\b', 'git::write_verbs'),
               (r'\bnew_enough\b', 'check_git_version')])
for f in files('tests/git/*.rs', 'tests/git.rs'):
    rename(f, [(r'(primitive::git::\{)reading, writing(\})', r'\1read_verbs, write_verbs\2'), (r'(primitive::git::)reading;', r'\1read_verbs;'), (r'(primitive::git::)writing;', r'\1write_verbs;')])
    if re.search(r'primitive::git::(\{)?(read_verbs|write_verbs)', open(f).read()):
        rename(f, [(r'(?<![\w.])reading\(\)', 'read_verbs()'), (r'(?<![\w.])writing\(\)', 'write_verbs()')])
# 7. Letters, likeness.
for f in using(r'\b(letters|likeness)::'):
    rename(f, [(r'\bletters::byte_of\(', 'letters::byte_index('), (r'\bletters::fill\(', 'letters::repeat_to_length('), (r'\bletters::collapsed\(', 'letters::collapse_whitespace('), (r'\bletters::(count|find|to_upper|to_lower|pieces_at_starters)\b', r'letters::\1'), ])
# 8. Forms.
for f in using(r'primitive::(\{[^}]*)?\bform\b'):
    rename(f, [(r'\bform::flaws\(', 'form::find_violations('), (r'\bform::schema_of\(', 'form::complete_schema(')])
# 9. The verb of git.
for f in using(r'primitive::git::(verb::)?(\{[^}]*)?\bVerb\b|git::verb::(\{[^}]*)?\bVerb\b') + files('src/primitive/git.rs', 'src/primitive/git/*.rs'):
    rename(f, [(w('Verb'), 'GitVerb')])
