#!/usr/bin/env python3
"""Repeats, in a checkout whose `src/world` is already the new one, what the room `world` renamed for other rooms:
   world-rename.py ROOT
Works on src, tests, benches and fuzz outside of src/world. Can be run again: what is renamed already stays."""
import re,sys,os
root=sys.argv[1]; os.chdir(root)
def files(*tops):
    out=[]
    for t in tops:
        if t.endswith('.rs'): out.append(t); continue
        for d,_,fs in os.walk(t):
            if d.endswith('/target'): continue
            out+= [os.path.join(d,f) for f in fs if f.endswith('.rs')]
    return sorted(out)
def code_sub(text, old, new, allow_path):
    """replaces the word in code, and in comments between backticks or brackets only; never in strings"""
    pat=re.compile(r'\b%s\b'%old)
    out=[]
    i=0;n=len(text);buf=''
    # tokenise roughly: strings, comments, code
    tok=re.compile(r'(//[^\n]*)|(r#+".*?"#+)|("(?:\\.|[^"\\])*")|(\'(?:\\.|[^\'\\])\')',re.S)
    pos=0
    def incode(s, before):
        def f(m):
            pre=(before+s[:m.start()])[-80:]
            if re.search(r'::\s*$',pre):
                q=re.search(r'([A-Za-z_0-9]+)\s*::\s*$',pre)
                name=q.group(1) if q else ''
                if name and (name[0].isupper()): return m.group(0)   # a variant or an associated item
                if name and name not in allow_path: return m.group(0)
            if re.search(r'\.\s*$',pre): return m.group(0)
            return new
        return pat.sub(f,s)
    acc=''
    for m in tok.finditer(text):
        acc+=incode(text[pos:m.start()],acc)
        t=m.group(0)
        if m.group(1):
            t=re.sub(r'(`|\[`?)((?:[a-z_]+::)*)%s\b'%old,lambda k:k.group(1)+k.group(2)+new,t)
        acc+=t
        pos=m.end()
    acc+=incode(text[pos:],acc)
    return acc
PATHS={'world','walk','effects','run','repository','recorded','granted','staged','staging','memory','glob','grants','disk','super','self','crate','scratch',
 'journal','lock','process','program','program_journal','protected','write_journal','write','read','resolve','roots','temporary','confine','sandbox','spawn','filter','guard','config','discovery','stamp','stand_in','writable_folders','system','handle','git'}
def inner(path, *pairs):
    for p in files(path) if not isinstance(path,list) else path:
        if not os.path.exists(p): print('absent',p); continue
        s=open(p).read(); t=s
        for o,n in pairs: t=code_sub(t,o,n,PATHS)
        if t!=s: open(p,'w').write(t)
USE=re.compile(r'\b(?:crate|toolsd|super(?:::super)*)::world::?([^;]*);|\b(?:crate|toolsd)::world::([a-z_:]*::)?([A-Z]\w*)',re.S)
def imports(text):
    found=set()
    for m in re.finditer(r'\buse\s+(?:crate|toolsd)::(world\b[^;]*);',text):
        found|=set(re.findall(r'\b[A-Z]\w*',m.group(1)))
    for m in re.finditer(r'\buse\s+(?:crate|toolsd)::\{([^;]*)\};',text,re.S):
        if 'world::' in m.group(1): found|=set(re.findall(r'world::[\w:{}, ]*',m.group(1)) and re.findall(r'\b[A-Z]\w*',' '.join(re.findall(r'world::[\w:{}, ]*',m.group(1)))))
    q=set(re.findall(r'\bworld::(?:[a-z_]+::)*([A-Z]\w*)',text))
    return found,q
def outer(*pairs):
    for p in files('src','tests','benches','fuzz'):
        if p.startswith('src/world'): continue
        s=open(p).read(); t=s
        imp,q=imports(s)
        for o,n in pairs:
            if o in imp: t=code_sub(t,o,n,PATHS)
            elif o in q: t=re.sub(r'\bworld::((?:[a-z_]+::)*)%s\b'%o,lambda m:'world::'+m.group(1)+n,t)
        if t!=s: open(p,'w').write(t); print('outside:',p)
PUBLIC=[l.split() for l in '''
Entry FolderEntry
Walk WalkOptions
Walked WalkResult
Attempt LockAttempt
Change FileChange
Standing TargetState
Command ProgramCommand
Ran ProgramOutput
Needs RequiredGrant
Contents ReadableFiles
Changed ChangedFiles
Git GitAccess
Processes ChildProcesses
RealFile ExecutedFile
Setting GitSetting
Scope ConfigScope
Done GitOutput
Excludes IgnoreFile
Known KnownSetting
KNOWN KNOWN_SETTINGS
Heard HonoredFrom
Recorded RecordedWorld
Reads RecordedReads
Check ReadsCheck
Seen PathState
Granted GrantedWorld
Allowed GrantedAccess
Staged StagedWorld
Memory MemoryWorld
Scratch ScratchWorld
Find FileSearch
'''.split('\n') if l.strip()]

names = dict(map(tuple, PUBLIC))
PATHS_MOVED = [
    (r'\bworld::(text|ownership|judge)::', 'world::'),
    (r'\bworld::find::Find\b', 'world::glob::FileSearch'),
    (r'\bworld::granted::(protected_name)\b', r'world::\1'),
    (r'\bworld::(?:granted::)?is_never\b', 'world::is_forbidden_variable'),
    (r'\bworld::staged::(StagedFile)\b', r'world::staging::\1'),
    (r'\bworld::staged::Seal\b', 'world::staging::WriteSeal'),
    (r'\bworld::granted::\{Allowed, Granted(?:World)?\}', '{granted::GrantedWorld, GrantedAccess}'),
    (r'\bworld::repository::known::', 'world::repository::'),
    (r'\brepository::key\(', 'repository::normalize_key('),
    (r'\bDisk::reaching\(', 'Disk::with_outer_roots('),
    (r'\.sandboxed\(', '.with_sandbox('),
    (r'\bMechanisms::of_this_system\(\)', 'toolsd::world::disk::system_mechanisms()'),
    (r'Option<&Staged(?:World)?>', 'Option<&dyn crate::world::staging::StagedWrites>'),
    (r'staged\.recorded\(', 'staged.settle_recorded('),
    (r'granted\.whole\(\)', 'granted.inner()'), (r'world\.whole\(\)', 'world.inner()'),
    (r'granted\.over\(', 'granted.with_world('), (r'world\.over\(', 'world.with_world('),
    (r'self\.recorded\.known\(', 'self.recorded.known_hash('),
]
for p in files('src', 'tests', 'benches', 'fuzz'):
    if p.startswith('src/world'): continue
    s = open(p).read(); t = s
    if 'world' in t:
        for a, b in PATHS_MOVED: t = re.sub(a, b, t)
    if t != s: open(p, 'w').write(t); print('path:', p)
outer(*[tuple(x) for x in PUBLIC])
for p in files('src', 'tests', 'benches', 'fuzz'):
    if p.startswith('src/world'): continue
    s = open(p).read(); t = s
    imp, _ = imports(s)
    for o, n in PUBLIC:
        if n in imp: t = re.sub(r'(?<=\.\.)%s(?=::)' % o, n, t)
    t = re.sub(r'(std::process::\{?)ProgramCommand\b', r'\1Command', t)
    t = re.sub(r'\brun::(Git|Command|Needs|Ran|Processes|Changed|Contents|RealFile)\b', lambda m: 'run::' + names[m.group(1)], t)
    if t != s: open(p, 'w').write(t); print('again:', p)
print('By hand: users of `definition::Git` (now `GitAccess`), words seen through `use super::*`, `use crate::world::text`; then cargo fmt and check.')
