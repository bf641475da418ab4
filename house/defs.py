import re,glob
R=''+__import__('os').environ.get('GR','/work/house/graph')+'/src/'
G=[R+'guard.rs']+glob.glob(R+'guard/*.rs')
def sub(fs,pairs):
    for f in fs:
        t=open(f).read(); o=t
        out=[]
        for l in t.split('\n'):
            segs=re.split(r'("(?:[^"\\]|\\.)*")',l) if not l.lstrip().startswith('//') else [l]
            for i in range(0,len(segs),2):
                for a,b in pairs:
                    if l.lstrip().startswith('//'): segs[i]=re.sub(r'(\[`(?:guard::|\w+::)?)'+a+r'(?=`\])',r'\g<1>'+b,segs[i])
                    else: segs[i]=re.sub(r'(?<![\w"])'+a+r'\b',b,segs[i])
            out.append(''.join(segs))
        t='\n'.join(out)
        if t!=o: open(f,'w').write(t)
import sys
if sys.argv[1]=='types':
    sub(G,[('Cancel','CancelFlag'),('Entered','EnteredGuard'),('Work','CheckedIterator'),('Checked','CheckedItems'),('Counting','CountingAllocator'),('Waiting','WaitNote'),('gaps::Place','gaps::CallPlace')])
    for f in [R+'guard/gaps.rs']:
        t=open(f).read(); t=re.sub(r'\bPlace\b','CallPlace',t); open(f,'w').write(t)
    f=R+'script/tests/stoppable/missed.rs'; t=open(f).read(); t=re.sub(r'\bPlace\b','CallPlace',t); open(f,'w').write(t)
    sub([R+'order.rs'],[('By','SortBy')])
    sub([R+'content.rs'],[('Block','ContentBody')])
    f=R+'lib.rs'; t=open(f).read(); t=t.replace('guard::Counting = guard::Counting','guard::CountingAllocator = guard::CountingAllocator'); open(f,'w').write(t)
else:
    sub(G,[('room','reserve_memory'),('going','check_stopped'),('works_for','set_thread_address'),('may_give_way','allow_lower_priority'),('gave_way','has_lower_priority'),('waiting_for','note_wait'),('price','require_time'),(r'(?<!\.)each','checked'),('LOOK','PIECE_BYTES'),('forgive','exclude_time'),('gives_way','lowers_priority'),('give_way','lower_priority'),('for_all','without_address'),('counted(?=\\()','with_share'),('give(?=\\()','lower_thread_priority'),('Way','ThreadPriority'),('WAY','THREAD_PRIORITY')])
    for f in G:
        t=open(f).read(); t=t.replace('super::reserve_memory','super::reserve_memory'); open(f,'w').write(t)
    sub([R+'order.rs'],[('same(?=\\()','is_equal'),('part(?=\\()','compare_parts'),('read(?=\\()','parse'),('(?<=Self::)one(?=\\()','parse_one'),('(?<=fn )one(?=\\()','parse_one'),('thawed','thaw'),('merged(?=[(<])','merge_sort')])
    sub(glob.glob(R+'value/*.rs')+[R+'value.rs'],[('ordered','order_keys'),(r'(?<!\.)copied(?=[()])','copy_json'),('lost(?=\\()','find_non_finite'),('in_order','with_key_places')])
    f=R+'value/objects.rs'; t=open(f).read(); t=t.replace('pub fn of(value: &Value)','pub fn from_thrown(value: &Value)').replace('of_map(','from_thrown_map('); open(f,'w').write(t)
    f=R+'source.rs'; t=open(f).read(); t=t.replace('pub fn of(','pub fn from_text(').replace('Self::of(','Self::from_text('); open(f,'w').write(t)
    def rx(f,*ps):
        t=open(R+f).read()
        for a,b in ps:
            assert re.search(a,t),(f,a); t=re.sub(a,b,t)
        open(R+f,'w').write(t)
    rx('graph/snapshot.rs',(r'pub fn of\(value','pub fn from_handle(value'))
    rx('graph/build.rs',(r'pub fn given\(','pub fn from_value('),(r'Self::of\(value','Self::from_handle(value'),(r'\brecord_in\b','record_into'))
    rx('graph/nodes.rs',(r'pub fn given\(','pub fn from_value('),(r'pub fn given_whole\(','pub fn from_value_with_edges('),(r'Self::given\(','Self::from_value('))
    rx('graph/text_index.rs',(r'\btokens_in\b','lowercase_tokens'))
    rx('graph/derive_scope.rs',(r'\bis_limited\b','has_limited_reads'))
    rx('graph/store.rs',(r'\bis_limited\b','has_limited_reads'))
    rx('graph.rs',(r'\bis_limited\b','has_limited_reads'),(r'\btokens_in\b','lowercase_tokens'),(r'\brecord_in\b','record_into'))
    rx('graph/tests.rs',(r'\brecord_in\b','record_into'))
    for f in glob.glob(R+'graph/tests/*.rs'):
        t=open(f).read(); t2=re.sub(r'\brecord_in\b','record_into',re.sub(r'\btokens_in\b','lowercase_tokens',t)); 
        if t2!=t: open(f,'w').write(t2)
    rx('graph/walk.rs',(r'pub fn read\(text','pub fn parse(text'))
    rx('graph/change/transaction.rs',(r'pub fn on\(graph','pub fn apply_to(graph'))
    rx('graph/store.rs',(r'\bstanding_origin\b','latest_origin'),(r'\bstanding\(','latest('),(r'fn touched_below\(','fn read_paths_below('),(r'fn touched\(','fn read_paths('),(r'fn last\(','fn last_graph('))
    for f in glob.glob(R+'graph/tests/*.rs'):
        t=open(f).read(); t2=re.sub(r'store\.standing\(','store.latest(',t); t2=re.sub(r'store\.touched\(\)','store.read_paths()',t2); t2=re.sub(r'store\.touched_below\(','store.read_paths_below(',t2); t2=re.sub(r'store\.last\(\)','store.last_graph()',t2)
        if t2!=t: open(f,'w').write(t2)
