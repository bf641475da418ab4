from rename import *
D='definition'; R='registry'
T=[
(D,'Care','Validation',None),(D,'Reading','DefinitionReader',None),(D,'Declared','DeclaredQuestion',None),(D,'Key','GrammarKey',None),
(D,'Shape','ValueShape',None),(D,'Field','FieldEntry',['!','definition/fields.rs']),
(D,'Of','ExampleTarget',['!','definition/case.rs','definition/file.rs','definition/operation.rs']),
(D,'Message','PromptMessage',['definition/prompt.rs','definition/file','definition.rs']),
(D,'Own','OperationArguments',['!','definition/operation.rs','definition/tool.rs']),
(D,'Read','OperationDraft',['!','definition/operation.rs']),
(D,'Setting','Configurable',None),
(D,'Step','CaseStep',['definition/case.rs','definition.rs']),(D,'Step','SchemaStep',['!','definition/schema']),
(D,'Act','CaseAction',None),(D,'Expect','Expectation',None),
(D,'Plan','DefaultsPlan',['!','definition/schema']),(D,'Takes','KeywordValue',['!','definition/schema']),(D,'Matches','PatternKeyword',['!','definition/schema']),(D,'Compiled','CompiledSchema',['!','definition/schema']),
(D,'Task','TaskSupport',None),(D,'Tasking','TaskPolicy',None),(D,'Role','SchemaRole',None),(D,'Server','ServerDefinition',None),
(D,'Workspace','WorkspaceDefinition',None),(D,'Hints','ToolHints',None),
(R,'Assembly','RegistryParts',None),(R,'Row','PermissionRow',['!','registry/permissions/tests.rs']),(R,'Checks','CallContract',None),(R,'Schemas','ToolSchemas',None),(R,'Compiling','ContractCompiler',None),(R,'Forming','SchemaForm',None),
(R,'Choice','PackChoice',None),(R,'Served','PackSelection',None),(R,'Published','PublishedDefinitions',None),(R,'Others','CompiledParts',None),
(R,'Made','CompiledPack',None),(R,'Merged','MergedDefinitions',None),(R,'Texts','LazyTemplates',None),
(R,'Part','UriPart',['!','registry/uri_template.rs']),(R,'Part','PackPart',['registry.rs']),(R,'Refused','RefusedPart',None),(R,'Taken','ClaimedNames',None),
(R,'Content','EmbeddedContent',['!','registry/layers.rs']),(R,'Embedded','EmbeddedFile',['!','registry/layers.rs']),(R,'Files','PackFiles',None),
(R,'Looking','FolderScan',None),(R,'Origin','SkillSource',['!','registry/skills.rs']),(R,'Digests','FileDigests',None),(R,'Rejected','SkillRejection',None),
(R,'Skills','SkillIndex',None),(R,'Settings','WorkspaceSettings',None),(R,'Trust','WorkspaceTrust',None),(R,'Trusted','TrustedFile',None),
(R,'Variables','UriVariables',None),(R,'Worlds','WorldOpener',None),
('check','Rule','CheckRule',None),('check','Mend','ExampleFix',None),('check','Item','PackItem',['!','check/refusal.rs']),('check','Touched','FaultReach',['!','check/refusal.rs']),('check','Header','TableHeader',['!','check/refusal.rs']),
('template','Choice','ConditionalBlock',None),('template','Scoped','ScopedBlock',None),('template','Facts','TemplateUses',None),('template','Fact','TemplateUse',None),('template','From','PathStart',['!','template.rs','template/usage.rs']),
('template','Reference','ContextPath',None),('template','Scope','BlockScope',None),('template','Walk','UsageWalk',None),('template','Pure','PrimitiveHelper',['!','template/pure.rs']),('template','Nowhere','EmptyHost',None),
('manual','Entries','ManualEntries',None),
('case','Kept','CaseVariables',None),('case','Stage','CaseStage',None),('case','Ground','StageWorld',None),('case','Laid','FileLayout',None),('case','Playing','CaseRun',None),('case','Played','CaseOutcome',None),('case','Happened','StepOutcome',None),('case','Era','AnswerMode',None),('case','Timer','RefreshTimer',None),('case','Client','CaseClient',None),
]
if __name__=='__main__':
    def text(path, *pairs):
        f=BASE+path; t=open(f).read()
        for a,b in pairs:
            if a not in t: print('MISSING in',path,':',a)
            t=t.replace(a,b)
        open(f,'w').write(t)
    print('\n'.join(rename(T)))
    # A variant keeps its name.
    text('src/call.rs',('    SkillIndex(Arc<SkillIndex>),','    Skills(Arc<SkillIndex>),'))
    # The build script writes `Embedded` and `Content`.
    text('src/registry/layers.rs',('''static FILES: &[EmbeddedFile] = &include!(concat!(env!("OUT_DIR"), "/packs.rs"));''','''static FILES: &[EmbeddedFile] = {
    // The names that the build script writes.
    use {EmbeddedContent as Content, EmbeddedFile as Embedded};
    &include!(concat!(env!("OUT_DIR"), "/packs.rs"))
};'''))
