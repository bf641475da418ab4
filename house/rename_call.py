#!/usr/bin/env python3
"""Cross-room renames of the call room. Run in the root of a checkout."""
import re,subprocess,sys
import os; sys.path.insert(0,os.path.dirname(os.path.abspath(__file__)))
from coderen import *
NAMES='Change=HostChange Changes=ChangeFeed Listener=ChangeSubscription Outcome=ToolOutcome Contents=ResourceAnswer Completed=CompletionTarget Asking=AskMode Asks=PendingQuestions Record=CallRecord Pace=RefreshSchedule Site=PackSource Lines=LogLines Answering=RequestHandler'
names=dict(x.split('=') for x in NAMES.split())
files=subprocess.run(['git','ls-files','src','tests','fuzz','benches'],capture_output=True,text=True).stdout.split()
files=[f for f in files if f.endswith('.rs')]
for f in files:
    t=open(f).read()
    inside=f.startswith('src/call/') or f=='src/call.rs'
    imp=set()
    if inside:
        imp=set(names)
        # foreign owners of the same word within the room
        if f.endswith(('prompt.rs',)): imp-={'Record'}
    else:
        for m in re.finditer(r'(?:crate|toolsd)::call::(\{[^}]*\}|\w+)',t):
            imp|=set(re.findall(r'\w+',m.group(1)))&set(names)
        for m in re.finditer(r'\bcall::(\w+)',t):
            if m.group(1) in names: imp.add(m.group(1))
    pairs=[]
    for n in imp:
        pairs.append((r'(?<![:\w])%s\b(?!\()'%n if n in('Contents','Asks','Change','Outcome') else r'(?<![:\w])%s\b'%n,names[n]))
        pairs.append((r'\bcall::%s\b'%n,'call::'+names[n]))
    if pairs:
        n=coderen(t,*pairs)
        if n!=t: open(f,'w').write(n); print(f,sorted(imp) if not inside else '')
# Functions and methods of `call` seen in other rooms.
for f in files:
    if f.startswith('src/call') : continue
    t=open(f).read()
    n=coderen(t,(r'\bcall::parts\(','call::load_packs('),(r'\bcall::clashes\(','call::name_clashes('),
        (r'\bservice\.paces\(\)','service.refresh_schedules()'),(r'\bservice\.changes\(\)\.listen\(','service.changes().subscribe('),
        (r'(Peer \{[^}]*?)\bparty:',r'\1caller_id:'))
    if n!=t: open(f,'w').write(n); print(f)
