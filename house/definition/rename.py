"""Renames words in code (not in strings; in comments only within backticks), in given scopes."""
import re, glob, os, sys
BASE=os.environ.get('BASE','/work/house/definition/')
TOK=re.compile(r'''(?P<c>//[^\n]*|/\*.*?\*/)|(?P<s>b?r(?P<h>#*)".*?"(?P=h)|b?"(?:\\.|[^"\\])*")|(?P<ch>'(?:\\.[^']*|[^'\\])')''',re.S)
def files():
    out=[]
    for d in ('src','tests','benches','fuzz/targets','fuzz/fuzz_targets'):
        out+=glob.glob(BASE+d+'/**/*.rs',recursive=True)
    return sorted(set(out))
def apply(t, pairs):
    def code(x):
        for o,n in pairs:
            if callable(n): x=o.sub(n,x); continue
            def put(m, n=n, x=x):
                before=x[max(0,m.start()-40):m.start()]
                q=re.search(r'([A-Za-z0-9_]+)(::<[^>]*>)?::$',before)
                if q and q.group(1)[0].isupper(): return m.group(0)   # a variant or an associated item
                return n
            x=o.sub(put,x)
        return x
    def comment(x):
        return re.sub(r'`[^`\n]*`', lambda m: code(m.group(0)), x)
    out=[];i=0
    for m in TOK.finditer(t):
        out.append(code(t[i:m.start()]))
        out.append(comment(m.group(0)) if m.group('c') else m.group(0))
        i=m.end()
    out.append(code(t[i:]))
    return ''.join(out)
ROOMS=('definition','registry','check','template','manual','case')
def room(p):
    r=os.path.relpath(p,BASE)
    if r.startswith('src/'): return re.split(r'[/.]',r[4:])[0]
    return 'out'
def imports(t, mod, name):
    if re.search(r'toolsd::'+mod+r'::\*;',t): return True
    for m in re.finditer(r'(?:crate|toolsd)::'+mod+r'::(\{[^}]*\}|[A-Za-z_:]+)', t):
        if re.search(r'\b'+name+r'\b', m.group(1)): return True
    if re.search(r'\b'+mod+r'::'+name+r'\b', t): return True
    return False
def rename(table):
    """table: list of (mod, old, new, where) - where: None = the rooms that import it; list of path prefixes below src for inside."""
    texts={f:open(f).read() for f in files()}
    per={f:[] for f in texts}
    for mod, old, new, where in table:
        for f,t in texts.items():
            rel=os.path.relpath(f,BASE)
            inside = any(rel.startswith('src/'+w) for w in (where if where is not None else [mod+'/',mod+'.rs']))
            private = where is not None and where[0]=='!'
            if inside or (not private and room(f)!=mod and imports(t,mod,old)):
                if re.search(r'\b'+old+r'\b',t):
                    per[f].append((re.compile(r'\b'+old+r'\b(?!!)'),new))
    changed=[]
    for f,pairs in per.items():
        if not pairs: continue
        n=apply(texts[f],pairs)
        if n!=texts[f]:
            open(f,'w').write(n); changed.append(os.path.relpath(f,BASE))
    return changed
