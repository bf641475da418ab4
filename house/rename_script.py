#!/usr/bin/env python3
"""Cross-room renames of the script room, for files outside of src/script. Run in the root of a checkout."""
import re,subprocess,sys,os
sys.path.insert(0,os.path.dirname(os.path.abspath(__file__)))
from coderen import *
NAMES=dict(x.split('=') for x in 'STACK=STACK_BYTES Party=CallerId Watched=WatchedGuard Held=HungCall aside=block_in_place sealable=register_seal settle=commit_call watch_over=watch_guard FunctionName=FunctionSignature'.split())
SURVEY=dict(x.split('=') for x in 'Survey=ScriptSurvey Definition=FunctionDefinition Call=CallSite Read=ParameterRead Assignment=ParameterAssignment Capture=ReceiverCapture Pointer=FunctionPointer'.split())
DOC=dict(x.split('=') for x in 'outcome=describe_outcome parameter=describe_parameter definitions=rhai_definitions'.split())
files=[f for f in subprocess.run(['git','ls-files','src','tests','fuzz','benches'],capture_output=True,text=True).stdout.split() if f.endswith('.rs') and not f.startswith('src/script')]
def imported(t,path,names):
    s=set()
    for m in re.finditer(r'(?:crate|toolsd)::'+path+r'::(\{[^}]*\}|\w+)',t): s|=set(re.findall(r'\w+',m.group(1)))&set(names)
    return s
for f in files:
    t=open(f).read(); pairs=[]
    for n in imported(t,'script',NAMES): pairs+=[(r'(?<![:\w.])%s\b'%n,NAMES[n]),(r'\bscript::%s\b'%n,'script::'+NAMES[n])]
    for n in imported(t,'script::survey',SURVEY): pairs+=[(r'(?<![:\w.])%s\b(?!\s*\{ tool)'%n,SURVEY[n]),(r'\bsurvey::%s\b'%n,'survey::'+SURVEY[n])]
    for n in imported(t,'script::documentation',DOC): pairs+=[(r'(?<![:\w.])%s(?=\(|[,}])'%n,DOC[n]),(r'\bdocumentation::%s\b'%n,'documentation::'+DOC[n])]
    pairs+=[(r'\bscript::prepare\b','script::prepare_engine'),(r'\bProgram::later\b','Program::deferred'),(r'\bprogram\.ready\(\)','program.diagnostics()'),
      (r'\bprogram\.reaches\(','program.find_calls_to('),(r'\bprogram\.called_from\(','program.reachable_functions('),(r'\bprogram\.effect\(','program.strongest_effect('),
      (r'\bprogram\.functions_of\(','program.functions_seen_by('),(r'\bprogram\.within\(','program.run_native('),(r'\bpool\.held\(\)','pool.hung_calls()'),
      (r'(CallerId \{ )place: ',r'\1address: '),(r'(CallerId \{ )place\b(?!:)',r'\1address: place'),(r'\bparty\.place\b','party.address')]
    n=coderen(t,*pairs)
    if n!=t: open(f,'w').write(n); print(f)
