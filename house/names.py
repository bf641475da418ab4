import re,glob
ROOT='/work/house/graph/src/'
GLOBAL={ # unique words in the graph room
'Parts':'GraphData','Numbered':'ResumePoint','Shape':'TableShape','Head':'NodeHead','How':'OnDuplicate','Target':'NodeRef','Reference':'FragmentEdge',
'Lookups':'ColumnLookups','Sketch':'TrigramSketch','Standing':'RowOwners','Key':'ScalarKey','Index':'FieldIndex','Reader':'FieldReader','Group':'DerivedFields','Reads':'DeclaredReads',
'Basis':'DerivedBasis','Related':'VisibleNodes','Values':'DerivedValues','Progress':'DerivationStack','Limited':'LimitedReads','Premise':'CacheKey',
'Kept':'DerivedCache','Keeping':'CacheScope','Remembered':'QueryCache','Gate':'SealedWorld','Scanning':'ScanScope','Scan':'FileScanner','Memo':'BuildMemo',
'Recording':'FragmentBuilder','Maker':'FragmentHandle','Blocks':'BlockMapping','Store':'GraphStore','Built':'BuiltGraph','Build':'BuildPlan','Within':'BuildScope',
'Changing':'ChangeSession','Turns':'ChangeLock','Label':'ChangeLabel','Origin':'GraphOrigin','Pending':'PendingChanges','Ledger':'ChangeLog','Working':'TransactionState','Loose':'UnlistedEdges',
'Assembling':'DraftAssembly','Assembly':'FragmentAssembly','End':'EdgeEnd','Condition':'FieldCondition','Walking':'WalkOptions','Drawing':'DiagramOptions','Drawn':'Diagram',
'Steps':'EdgeSteps','Ways':'StepMap','Mix':'KeyMixer','Calling':'ScanCall','Scanned':'ScannedFile','Attachment':'Attachment',
}
FILE={
'graph/snapshot.rs':{'Slot':'NodeSlot','Fault':'FileFault'},
'graph/assembly.rs':{'Slot':'NodeSlot','Fault':'FileFault'},
'graph/fragment.rs':{'Fault':'FileFault'},
'graph/change/assembling.rs':{'Slot':'NodeSlot'},
'graph/change.rs':{'Slot':'NodeSlot','Entry':'ChangeEntry'},
'graph.rs':{'Slot':'NodeSlot','Entry':'ChangeEntry','Fault':'FileFault','Doing':'ActiveDerivation'},
'graph/derived.rs':{'Slot':'ResultSlot','Doing':'ActiveDerivation'},
'graph/computing.rs':{'Doing':'ActiveDerivation'},
'graph/values.rs':{'Doing':'ComputingScope','Made':'StoredResult'},
'graph/remembered.rs':{'Slot':'FoldedTexts','Order':'SortedOrder','Folded':'FoldedField','Fold':'TextFold'},
'graph/lookup.rs':{'Column':'ColumnText','Tokens':'TokenRows'},
'graph/finding.rs':{'Column':'ColumnText','Place':'FieldColumn'},
'graph/ordering.rs':{'Column':'SortColumn'},
'graph/rows.rs':{'Column':'SelectedColumn','Columns':'Selection'},
'graph/kept.rs':{'State':'CacheState','Entry':'CacheEntry'},
'graph/builder.rs':{'State':'BuilderState'},
'graph/store.rs':{'State':'StoreState','Ending':'BuildEnd'},
'graph/change/changing.rs':{'State':'SessionState','Entry':'ChangeEntry'},
'graph/change/ledger.rs':{'Entry':'ChangeEntry'},
'graph/access.rs':{'Access':'FieldAccess','Near':'NearColumn'},
'graph/condition.rs':{'Test':'FieldTest','Choice':'ValueChoice'},
'graph/shortest.rs':{'Left':'RemainingGroup'},
'graph/scan.rs':{'Fragments':'FragmentCache'},
'graph/blocks.rs':{'Part':'NodeMapping','Sections':'SectionMapping'},
}
PARTSFILES='access assembly computing condition derived drawing edges finding index node nodes reads remembered roots snapshot walk tests/changing'.split()
def code_sub(text,names):
    if not names: return text
    rx=re.compile(r'(?<![\w"`])('+'|'.join(sorted(names,key=len,reverse=True))+r')\b(?!")')
    out=[]
    for l in text.split('\n'):
        st=l.lstrip()
        if st.startswith('//'):
            l=re.sub(r'\[`(\w+)((?:::\w+)?)`\]',lambda m:'[`'+names.get(m.group(1),m.group(1))+m.group(2)+'`]',l)
        else:
            # leave string literals alone
            segs=re.split(r'("(?:[^"\\]|\\.)*")',l)
            l=''.join(s if i%2 else rx.sub(lambda m:names[m.group(1)],s) for i,s in enumerate(segs))
        out.append(l)
    return '\n'.join(out)
def run():
    for f in sorted(glob.glob(ROOT+'graph/**/*.rs',recursive=True)+[ROOT+'graph.rs']):
        k=f[len(ROOT):]; t=open(f).read(); o=t
        g=dict(GLOBAL)
        if k=='graph/blocks.rs': pass
        if k=='graph/scan.rs': g.pop('Reads')      # world::recorded::Reads
        if k.startswith('graph/tests'): 
            for w in ('Entry','Key','Index','Shape','Head','Target'): g.pop(w,None)
        t=code_sub(t,{**g,**FILE.get(k,{})})
        if k.startswith('graph/tests'): 
            if 'changing' in k or 'timing' in k: t=code_sub(t,{})
        base=k[len('graph/'):-3] if k!='graph.rs' else ''
        if base in PARTSFILES or base.startswith('change/'):
            if base=='derived': t=re.sub(r'\.parts\b','.data',t)
            else: t=re.sub(r'\bparts\b','data',t)
        t=re.sub(r'OnDuplicate::New\b','OnDuplicate::Reject',t); t=re.sub(r'OnDuplicate::Once\b','OnDuplicate::KeepFirst',t); t=re.sub(r'OnDuplicate::Last\b','OnDuplicate::Replace',t)
        t=t.replace('NodeRef::Here','NodeRef::Local').replace('NodeRef::of(','NodeRef::from_id(').replace('ScalarKey::of(','ScalarKey::from_value(').replace('ScalarKey::of)','ScalarKey::from_value)')
        if t!=o: open(f,'w').write(t)
if __name__=='__main__': run()
