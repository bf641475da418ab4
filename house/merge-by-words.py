#!/usr/bin/python3
import sys,re,subprocess,tempfile,os
base,ours,theirs=sys.argv[1:4]
T=re.compile(rb'[A-Za-z0-9_]+|\n|[ \t]+|.',re.S)
def split(p):
    d=open(p,'rb').read()
    return [t for t in T.findall(d)]
def enc(toks):
    return b''.join(t.replace(b'\n',b'\\n')+b'\n' if t!=b'\\' else b'\\\\\n' for t in toks)
tmp=tempfile.mkdtemp()
for n,p in (('b',base),('o',ours),('t',theirs)):
    open(f'{tmp}/{n}','wb').write(enc(split(p)))
r=subprocess.run(['git','merge-file','-p','--diff-algorithm=histogram',f'{tmp}/o',f'{tmp}/b',f'{tmp}/t'],capture_output=True)
if r.returncode==0:
    out=b''
    for line in r.stdout.split(b'\n')[:-1]:
        out+= b'\\' if line==b'\\\\' else (b'\n' if line==b'\\n' else line)
    open(ours,'wb').write(out); sys.exit(0)
r=subprocess.run(['git','merge-file','-p','--diff3',ours,base,theirs],capture_output=True)
open(ours,'wb').write(r.stdout); sys.exit(1)
