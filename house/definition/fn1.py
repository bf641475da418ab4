# Functions within the rooms: names that say what they do. Nothing outside of the six rooms changes.
from fn_table import *
D='src/definition'
readers=[D+'/'+x for x in 'body.rs case.rs operation.rs tool.rs resource.rs prompt.rs pack.rs limits.rs icon.rs question.rs workspace.rs file.rs'.split()]
fnname(readers,'body','read_body'); fnname(readers,'completion','read_completion',True)
fnname([D+'/case.rs',D+'/file.rs'],'case','read_case'); fnname(readers,'examples','read_examples')
fnname([D+'/case.rs'],'setting','read_setting'); fnname([D+'/case.rs'],'address','example_uri'); fnname([D+'/case.rs'],'nothing_expected','report_nothing_expected')
fnname([D+'/case.rs'],'lower_step','read_step'); fnname([D+'/case.rs'],'expectations','read_expectations'); fnname([D+'/case.rs'],'with_gone','false_to_null')
op=[D+'/operation.rs']
fnname(op+[D+'/tool.rs'],'dispatch','read_dispatch'); fnname(op,'one','read_operation'); fnname(op,'own','read_arguments'); fnname(op,'whole','operation_schema'); fnname(op,'flat','tool_schema')
fnname(op,'chain','requirements'); fnname(op,'either','add_alternative'); fnname(op,'object','to_object'); fnname(op,'required_of','required_arguments')
fnname([D+'/tool.rs',D+'/file.rs'],'tool','read_tool'); fnname([D+'/tool.rs'],'effect','read_effect'); fnname([D+'/tool.rs'],'tasking','read_task_policy'); fnname([D+'/tool.rs'],'strongest','strongest_effect')
fnname([D+'/resource.rs',D+'/file.rs'],'resource','read_resource'); fnname([D+'/resource.rs'],'variables','read_variables'); fnname([D+'/resource.rs'],'complete','read_completions'); fnname([D+'/resource.rs'],'check_address','check_uris')
pr=[D+'/prompt.rs']
fnname(pr+[D+'/file.rs'],'prompt','read_prompt'); fnname(pr,'arguments','read_arguments'); fnname(pr,'messages','read_messages'); fnname(pr,'part','read_part'); fnname(pr,'said','read_text_part'); fnname(pr,'picture_type','image_type'); fnname(pr,'described','describe_prompts'); fnname(pr,'input','input_schema')
pk=[D+'/pack.rs',D+'/file.rs']
fnname(pk,'pack','read_pack'); fnname(pk,'graph','read_graph'); fnname(pk,'skills','read_skills'); fnname(pk,'programs','read_programs'); fnname(pk,'described','read_program'); fnname(pk,'refused','check_program'); fnname(pk,'tell_of_climbing','warn_of_climbing')
fnname(readers,'limits','read_limits'); fnname(readers,'icons','read_icons'); fnname(readers,'questions','read_questions'); fnname(readers,'requires_client','read_requires_client'); fnname([D+'/question.rs'],'check','check_form')
fnname([D+'/workspace.rs'],'server','read_server'); fnname([D+'/workspace.rs'],'http','read_http')
fl=[D+'/file.rs']
fnname(fl,'lowered','read_tree'); fnname(fl,'lower','read_tables'); fnname(fl,'sibling','sibling_script')
fs=[D+'/fields.rs']
fnname(fs,'plain','as_clause'); fnname(fs,'unknown','unknown_key'); fnname(fs,'fits','check_shape'); fnname(fs,'allowed','check_value')
sc=[D+'/schema']
fnname(sc,'complete','with_shared'); fnname(sc,'leads','resolves'); fnname(sc,'used','shared_names'); fnname(sc,'references','visit_references')
fnname(sc,'follow','follow_reference'); fnname(sc,'problems_of','describe_error'); fnname(sc,'no_such','unknown_names'); fnname(sc,'told_apart','discriminator_violation'); fnname(sc,'plain','describe_kind'); fnname(sc,'brief','short_value',True); fnname(sc,'sentence','as_clause'); fnname(sc,'name_of','pointer_name'); fnname(sc,'default_of','default_value'); fnname(sc,'kind','kind_name'); fnname(sc,'differ','all_differ')
# registry
R='src/registry'
fnname([R+'/pack.rs'],'unnamed','default_definition'); fnname([R+'/pack.rs'],'twice','duplicate'); fnname([R+'/pack.rs'],'add','add_definitions')
fnname([R+'.rs'],'free','claim_name')
fnname([R+'/skills.rs',R+'/pack.rs'],'skills','pack_skills'); fnname([R+'/skills.rs'],'skill','pack_skill'); fnname([R+'/skills.rs'],'folders','skill_folders'); fnname([R+'/skills.rs'],'advice','skill_warning'); fnname([R+'/skills.rs'],'encoded','encode_path'); fnname([R+'/skills.rs'],'digest','sha256_digest')
fnname([R+'/layers.rs',R+'/workspace_files.rs'],'admitted','trusted_files')
word([R+'/permissions.rs'],r'\bof_one_program\b','covers_program'); fnname([R+'/permissions.rs'],'listed','quoted_list'); fnname([R+'/permissions.rs'],'plain','normalize_glob')
fnname([R+'/settings.rs'],'without_paths','remove_paths'); fnname([R+'/settings.rs'],'without_powers','remove_powers')
ut=[R+'/uri_template.rs']
fnname(ut,'wrong','template_fault'); fnname(ut,'literal','push_literal'); fnname(ut,'expression','parse_expression'); fnname(ut,'pattern','to_pattern'); fnname(ut,'decoded','percent_decode')
assoc(['FileDigests'],'of','digest_of',R+'/zzz') if False else None
method([R+'/skills.rs'],['FileDigests'],'of','digest_file','src/zzz') if False else None
text('src/registry/skills.rs',('fn of(&self, world: &dyn World','fn digest(&self, world: &dyn World'),('digests.of(world','digests.digest(world'))
text('src/registry/pack.rs',('Others::of(' if False else 'CompiledParts::of(','CompiledParts::compile('),('    fn of(name: &str, files','    fn compile(name: &str, files'),('TemplateSources::of(files','TemplateSources::collect(files'),('    fn of(files: &PackFiles','    fn collect(files: &PackFiles'))
# check
ck=['src/check']
fnname(['src/check/refusal.rs'],'touched','reach'); fnname(['src/check/refusal.rs'],'headers','table_of')
fnname(['src/check/refusal.rs'],'in_definitions','reach_of_definition'); fnname(['src/check/refusal.rs'],'in_script','reach_of_script'); fnname(['src/check/refusal.rs'],'in_template','reach_of_template')
assoc(['PackItem'],'of_tool','from_tool','src/check/refusal.rs'); assoc(['PackItem'],'of_resource','from_resource','src/check/refusal.rs'); assoc(['PackItem'],'of_prompt','from_prompt','src/check/refusal.rs')
assoc(['Subject'],'of','new','src/check/subject.rs')
# template
fnname(['src/template'],'facts_of','collect_uses'); fnname(['src/template/blocks.rs'],'given','required_param'); fnname(['src/template/blocks.rs'],'block','block_context')
fnname(['src/template'],'misuse','check_helper'); fnname(['src/template'],'in_order','sorted_values'); fnname(['src/template'],'inline','inline_name')
fnname(['src/template/fault.rs'],'explain','unbalanced_tag'); fnname(['src/template/fault.rs'],'missing','missing_variable')
fnname(['src/template/pure.rs'],'all','helper_primitives'); fnname(['src/template/pure.rs'],'nothing','unreachable'); fnname(['src/template/pure.rs'],'variable','evaluate_variable')
method(['src/template'],['Templates'],'leads_to','includes','src/template.rs'); method(['src/template'],['Templates'],'file_of','partial_file','src/template.rs')
# manual
fnname(['src/manual'],'entry','push_primitive'); fnname(['src/manual'],'verbs','push_verbs'); fnname(['src/manual'],'bare','without_brackets'); fnname(['src/manual'],'cell','table_cell'); fnname(['src/manual'],'fenced','push_fenced')
# case
cs=['src/case']
fnname(cs,'unmet','check_expectations'); fnname(cs,'wrong','unmet_at'); fnname(cs,'gives','difference'); fnname(cs,'matches','partial_difference'); fnname(cs,'same','is_equal'); fnname(cs,'part','compare_part'); fnname(cs,'short','shorten'); 
fnname(['src/case/variables.rs'],'replaced','map_texts'); fnname(['src/case/variables.rs'],'whole','variable_name')
fnname(['src/case/client.rs'],'shown','question_to_json'); fnname(['src/case/client.rs'],'written','answer_to_json')
fnname(['src/case/blessing.rs'],'value_of','value_span'); fnname(['src/case/blessing.rs'],'within','span_within'); fnname(['src/case/blessing.rs'],'plain','inline_span'); fnname(['src/case/blessing.rs'],'inline','to_inline_toml',True); fnname(['src/case/blessing.rs'],'bare','to_key'); fnname(['src/case/blessing.rs'],'quoted','to_basic_string')
fnname(['src/case/stage.rs'],'configured','read_config')
V='src/case/variables.rs'
assoc(['CaseVariables'],'within','new',V)
method(cs,['CaseVariables'],'placed_text','expand_workspace_in_text',V); method(cs,['CaseVariables'],'displaced','collapse_workspace',V)
assoc(['CaseStage'],'set','new','src/case/stage.rs'); assoc(['RefreshTimer'],'begin','start','src/case/stage.rs')
method(cs,['RefreshTimer'],'wind','schedule','src/case/stage.rs')
