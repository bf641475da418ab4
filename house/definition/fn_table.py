from rename import *
import sys
S='src/'
def sub_files(paths, fn):
    n=0
    for f in files():
        rel=os.path.relpath(f,BASE)
        if any(rel==p or rel.startswith(p.rstrip('/')+'/') or rel==p.rstrip('/')+'.rs' for p in paths):
            t=open(f).read(); u=fn(t,rel)
            if u!=t: open(f,'w').write(u); n+=1
    return n
def fnname(paths, old, new, value=False):
    pats=[(re.compile(r'^((?:pub(?:\([a-z ]+\))? )?(?:const )?fn )'+old+r'\b',re.M), lambda m: m.group(1)+new),
          (re.compile(r'(?:(?<![\.\w:])|(?<=\.\.))(?<!fn )'+old+r'(?=(::<[^>]*>)?\()'), lambda m: new),
          (re.compile(r'(?<![A-Za-z0-9_])((?:crate::|super::)*(?!blake3)[a-z_0-9]+::)'+old+r'(?=(::<[^>]*>)?\()'), lambda m: m.group(1)+new),
          (re.compile(r'\b(use [^;]*?;)',re.S), lambda m: re.sub(r'(?<![\w:])'+old+r'(?![\w:])|(?<=::)'+old+r'(?=[;,}\s])', new, m.group(1)))]
    if value: pats.append((re.compile(r'(?<=[(])'+old+r'(?=\))'), lambda m: new))
    n=sub_files(paths, lambda t,rel: apply(t,pats))
    if n==0: print('nothing renamed', old, new, paths)
def method(paths, types, old, new, deffile):
    tp='|'.join(types)
    pats=[(re.compile(r'\.'+old+r'(?=(::<[^>]*>)?\()'), lambda m:'.'+new),
          (re.compile(r'\b('+tp+r')::'+old+r'\b'), lambda m: m.group(1)+'::'+new)]
    n=sub_files(paths, lambda t,rel: apply(t,pats))
    dp=[(re.compile(r'\bfn '+old+r'\b'), lambda m:'fn '+new),(re.compile(r'\bSelf::'+old+r'\b'), lambda m:'Self::'+new)]
    d=sub_files([deffile], lambda t,rel: apply(t,dp))
    if d==0: print('method not defined', types, old, deffile)
def assoc(types, old, new, deffile):   # constructors: Type::old only
    tp='|'.join(types)
    pats=[(re.compile(r'\b('+tp+r')::'+old+r'\b'), lambda m: m.group(1)+'::'+new)]
    sub_files(['src','tests','benches','fuzz'], lambda t,rel: apply(t,pats))
    dp=[(re.compile(r'\bfn '+old+r'\b'), lambda m:'fn '+new),(re.compile(r'\bSelf::'+old+r'\b'), lambda m:'Self::'+new)]
    if sub_files([deffile], lambda t,rel: apply(t,dp))==0: print('assoc not defined', types, old, deffile)
def word(paths, old, new):
    sub_files(paths, lambda t,rel: apply(t,[(re.compile(old), lambda m: m.expand(new) if '\\' in new else new)]))
def text(path, *pairs):
    f=BASE+path; t=open(f).read()
    for a,b in pairs:
        if a not in t: print('MISSING in',path,':',a[:70].replace('\n','|'))
        t=t.replace(a,b)
    open(f,'w').write(t)
