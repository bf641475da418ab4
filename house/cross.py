# renames words in files that import them from a room; usage: cross(root, room, {old:new})
import re,glob,sys
sys.path.insert(0,'/tmp/g')
from names import code_sub
def files(root):
    return glob.glob(root+'/src/**/*.rs',recursive=True)+glob.glob(root+'/tests/**/*.rs',recursive=True)+glob.glob(root+'/benches/**/*.rs',recursive=True)
def cross(root,room,names,skip=()):
    changed=[]
    for f in files(root):
        rel=f[len(root)+1:]
        if any(rel.startswith(s) for s in skip): continue
        t=open(f).read(); o=t
        imp=set()
        for m in re.finditer(r'\b(?:crate|toolsd)::'+room+r'::\{([^}]*)\}',t):
            for w in m.group(1).split(','):
                w=w.strip()
                if w.split(' as ')[0] in names:
                    if ' as ' in w: t=re.sub(r'\b'+w.split(' as ')[0]+' as ',names[w.split(' as ')[0]]+' as ',t)
                    else: imp.add(w)
        for m in re.finditer(r'\b(?:crate|toolsd)::'+room+r'::(\w+)\b(?!::\{)( as )?',t):
            w=m.group(1)
            if w in names:
                if m.group(2): t=t.replace(room+'::'+w+' as ',room+'::'+names[w]+' as ')
                else:
                    if re.search(r'use (?:crate|toolsd)::'+room+'::'+w+';',t): imp.add(w)
                    t=re.sub(r'((?:crate|toolsd)::'+room+r'::)'+w+r'\b',lambda m:m.group(1)+names[w],t)
        # nested use crate::{room::{..}}
        up={w:names[w] for w in imp if w[0].isupper()}
        if up: t=code_sub(t,up)
        for w in imp:
            if w[0].isupper(): continue
            t=re.sub(r'(?ms)^( *(?:pub(?:\([^)]*\))? )?use [^;]*;)',lambda m: re.sub(r'\b'+w+r'\b',names[w],m.group(1)) if re.search(r'\b'+room+r'::(\{[^}]*\b'+w+r'\b|'+w+r'\b)',m.group(1)) else m.group(1),t)
            t='\n'.join(l if l.lstrip().startswith('//') and '[`' not in l else re.sub(r'(?<![.\w:])'+w+r'(?=\(|`\])',names[w],l) for l in t.split('\n'))
        # module path room::Word
        if re.search(r'use (?:crate|toolsd)::'+room+r'(::\{self|;)',t) :
            for w,nw in names.items(): t=re.sub(r'(?<![\w:])'+room+'::'+w+r'\b',room+'::'+nw,t)
        if t!=o: open(f,'w').write(t); changed.append(rel)
    return changed
if __name__=='__main__':
    import json
    root,room,spec=sys.argv[1:4]
    names=dict(p.split('=') for p in spec.split(','))
    for c in cross(root,room,names,tuple(sys.argv[4:])): print(c)
