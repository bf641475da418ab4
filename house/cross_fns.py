import sys,re,glob; sys.path.insert(0,'/tmp/g')
from cross import cross,files
r=sys.argv[1]
print(cross(r,'guard',{'room':'reserve_memory','going':'check_stopped','works_for':'set_thread_address','may_give_way':'allow_lower_priority','gave_way':'has_lower_priority','waiting_for':'note_wait','price':'require_time','each':'checked','LOOK':'PIECE_BYTES'}))
print(cross(r,'value',{'ordered':'order_keys'}))
print(cross(r,'order',{'same':'is_equal'}))
print(cross(r,'graph',{'record_in':'record_into','tokens_in':'lowercase_tokens','is_limited':'has_limited_reads'}))
RX=[(r'GraphStore::standing_origin','GraphStore::latest_origin'),(r'\bstore\.touched_below\(','store.read_paths_below('),(r'(self\.store\(&[\w.]+\))\.touched\(\)',r'\1.read_paths()'),(r'(self\.store\(&[\w.]+\))\.last\(\)',r'\1.last_graph()'),(r'\bSource::of\(','Source::from_text('),(r'\bFault::of\(','Fault::from_thrown('),(r'\bGraph::of\b','Graph::from_handle'),(r'\bGraph::given\b','Graph::from_value'),(r'\bNodes::given\b','Nodes::from_value'),(r'\bNodes::given_whole\b','Nodes::from_value_with_edges'),
(r'\bSortKey::read\b','SortKey::parse'),(r'\bDirection::read\b','Direction::parse'),(r'\bBlockMapping::read\b','BlockMapping::parse'),(r'\bTransaction::on\b','Transaction::apply_to'),(r'\bguard\.forgive\(','guard.exclude_time('),(r'\.give_way\(','.lower_priority('),(r'\bGuard::for_all\(','Guard::without_address(')]
for f in files(r):
    t=open(f).read(); o=t
    for a,b in RX: t=re.sub(a,b,t)
    if t!=o: open(f,'w').write(t); print(f[len(r)+1:])
