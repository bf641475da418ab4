import re
TOK=re.compile(r'(//[^\n]*|r(#*)".*?"\2|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\')',re.S)
def coderen(t,*pairs):
    out=[];last=0
    def app(c):
        for a,b in pairs: c=re.sub(a,b,c)
        return c
    for m in TOK.finditer(t):
        out.append(app(t[last:m.start()]));
        s=m.group(0)
        if s.startswith('"'):
            # inline format args
            def f(mm):
                return '{'+app(mm.group(1))+mm.group(2)+'}'
            s=re.sub(r'\{([a-z_][a-z_0-9]*)((?::[^{}]*)?)\}',f,s)
        elif s.startswith('//'):
            # code in backticks/links
            s=re.sub(r'`[^`]*`',lambda mm: app(mm.group(0)),s)
        out.append(s); last=m.end()
    out.append(app(t[last:]))
    return ''.join(out)
def renfile(p,*pairs):
    t=open(p).read(); n=coderen(t,*pairs)
    if n!=t: open(p,'w').write(n)
    return n!=t
def w(**k): return [(r'\b%s\b'%a,b) for a,b in k.items()]
def words(s):
    """'A=B C=D' """
    return [(r'\b%s\b'%x.split('=')[0],x.split('=')[1]) for x in s.split()]
def meth(s):
    """method renames 'a=b': fn a( / .a( / ::a("""
    r=[]
    for x in s.split():
        a,b=x.split('=')
        r+= [(r'(\bfn |\.|::)%s(?=[(<])'%a, r'\1'+b)]
    return r
def func(s):
    """free function renames: fn a( and a( not preceded by . or word"""
    r=[]
    for x in s.split():
        a,b=x.split('=')
        r+= [(r'(?<![.\w])%s(?=[(<])'%a, b)]
    return r
