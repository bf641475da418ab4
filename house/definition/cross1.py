# Renames that are seen in other rooms too: functions, methods, fields, one type that is dropped.
from fn_table import *
ALL=['src','tests','benches','fuzz']
D='src/definition'
# Problem is primitive::Violation
text('src/call/host.rs',('use crate::definition::{Checker, DeclaredQuestion, Problem, object};','use crate::definition::{Checker, DeclaredQuestion, schema_object};'),
 ('''        let problems = Checker::new(object(schema.clone())?)?.check(value);
        Ok(problems
            .into_iter()
            .map(|Problem { pointer, message, help }| Violation { pointer, message, help })
            .collect())
''','''        Ok(Checker::new(schema_object(schema.clone())?)?.check(value))
'''))
text('src/call/operation.rs',('use crate::definition::{Body, Problem};','use crate::definition::Body;\nuse crate::primitive::Violation;'),('problem: &mut Problem','problem: &mut Violation'))
text('src/call/tool.rs',('use crate::definition::{Body, Located, ObjectSchema, Problem, Tool};','use crate::definition::{Body, Located, ObjectSchema, Tool};\nuse crate::primitive::Violation;'),('&[Problem]','&[Violation]'),('problem: &Problem','problem: &Violation'))
f=BASE+'src/definition/schema/violation.rs'; t=open(f).read()
a=t.index('/// One violation.'); b=t.index('/// The violations in `value`')
t=t[:a]+t[b:]
t=re.sub(r'\bProblem\b','Violation',t).replace('use crate::parse::toml::{escape, unescape};','use crate::parse::toml::{escape, unescape};\nuse crate::primitive::Violation;')
open(f,'w').write(t)
f=BASE+'src/definition/schema/checker.rs'; t=open(f).read()
t=re.sub(r'\bProblem\b','Violation',t).replace('use super::violation::{Violation, describe_error, shorten};','use super::violation::{describe_error, shorten};').replace('use crate::pattern::Pattern;','use crate::pattern::Pattern;\nuse crate::primitive::Violation;')
open(f,'w').write(t)
text('src/definition/schema.rs',('\npub use violation::Problem;',''))
# Schema: methods in place of functions
f=BASE+'src/definition/schema/document.rs'; t=open(f).read()
def cut(name):
    global t
    m=re.search(r'((?:^(?:///|//=|//#)[^\n]*\n)*)^pub fn '+name+r'\b.*?^\}\n',t,re.S|re.M)
    assert m,name
    t=t.replace(m.group(0),'').replace('\n\n\n','\n\n')
    return m.group(0)
pub=cut('published'); res=cut('resolved'); mis=cut('missing_references')
def meth(x,old,new):
    x=x.replace(f'pub fn {old}(schema: &Schema, defs',f'pub fn {new}(&self, defs').replace('schema.json','self.json').replace('schema.place','self.place').replace('(schema, defs)','(self, defs)')
    return '\n'.join('    '+l if l else l for l in x.rstrip('\n').split('\n'))
pub=meth(pub,'published','publish').replace('[`resolved`]','[`Schema::resolve`]'); res=meth(res,'resolved','resolve'); mis=meth(mis,'missing_references','missing_references')
t=t.replace('''            pointer = &pointer[..pointer.rfind('/')?];
        }
    }
}
''','''            pointer = &pointer[..pointer.rfind('/')?];
        }
    }

'''+pub+'\n\n'+res+'\n\n'+mis+'\n}\n',1)
t=t.replace('missing_references(schema, defs)','schema.missing_references(defs)')
open(f,'w').write(t)
text('src/definition/schema.rs',('{ObjectSchema, Schema, missing_references, object, published, resolved}','{ObjectSchema, Schema, schema_object}'))
fnname([D],'object','schema_object') if False else None
for p in ('src/definition/schema/document.rs','src/definition/question.rs','src/registry/contract.rs','src/call/interview.rs','src/definition/schema/checker.rs','src/cli/arguments.rs','src/mcp/published.rs','tests/wire/fixture.rs'):
    fnname([p],'object','schema_object')
sub_files(['src/definition.rs'], lambda t,rel: re.sub(r'pub use schema::\{[^}]*\};','pub use schema::{Checker, ObjectSchema, Schema, SchemaRole, lint_schema, schema_object};',t))
fnname([D,'src/registry/contract.rs'],'lint','lint_schema')
text('src/definition.rs',('mod lint_schema','mod lint')) if 'mod lint_schema' in open(BASE+'src/definition.rs').read() else None
text('src/registry/contract.rs',('missing_references(schema, &self.definitions.defs)','schema.missing_references(&self.definitions.defs)'))
word(['src/registry/contract.rs'],r'(?<=, )published(?=, faults)','Schema::publish'); word(['src/registry/contract.rs'],r'(?<=, )resolved(?=, faults)','Schema::resolve')
word(['src/registry/contract.rs'],r'missing_references, |, published, resolved','')
text('src/registry/settings.rs',('published(schema, defs)','schema.publish(defs)'))
word(['src/registry/settings.rs'],r',?\s*published(?=[,}])','')
text('src/check/schema_reference.rs',('missing_references(schema, &subject.definitions.defs)','schema.missing_references(&subject.definitions.defs)'),('use crate::definition::{code, missing_references};','use crate::definition::code;'))
text('src/check/example_arguments.rs',('published(input, &subject.definitions.defs)','input.publish(&subject.definitions.defs)'),('Schema, published}','Schema}'))
text('src/definition/file/tests.rs',('crate::definition::published(&tool.input, &definitions.defs)','tool.input.publish(&definitions.defs)'))
assoc(['Schema'],'of','from_node','src/definition/schema/document.rs'); assoc(['Schema'],'without_places','from_node_without_places','src/definition/schema/document.rs'); assoc(['Schema'],'none','without_properties','src/definition/schema/document.rs')
# functions that other rooms call
def global_fn(mod, old, new, defs, value=False):
    paths=[]
    for f in files():
        t=open(f).read(); rel=os.path.relpath(f,BASE)
        if room(f)!=mod and imports(t,mod,old): paths.append(rel)
    fnname(paths+defs,old,new,value)
global_fn('definition','read','read_definitions',['src/definition/file.rs','src/definition.rs','src/definition/file/tests.rs'])
global_fn('definition','read_known','read_embedded',['src/definition/file.rs','src/definition.rs'])
global_fn('definition','listed_prompt','describe_prompt',['src/definition/prompt.rs','src/definition.rs'],True)
global_fn('definition','reference','all_grammars',['src/definition.rs'])
global_fn('registry','merge','merge_definitions',['src/registry.rs','src/registry/pack.rs'])
global_fn('registry','compile','compile_pack',['src/registry.rs','src/registry/pack.rs'])
global_fn('registry','no_pack','unknown_pack',['src/registry.rs','src/registry/settings.rs'])
global_fn('registry','root_of','find_root',['src/registry.rs','src/registry/selection.rs'])
global_fn('registry','outer_roots','roots_outside',['src/registry.rs','src/registry/selection.rs'])
global_fn('registry','serves','select_pack',['src/registry.rs','src/registry/selection.rs'])
global_fn('registry','ejected','read_ejected',['src/registry.rs','src/registry/layers.rs'])
global_fn('registry','hash','hash_hex',['src/registry.rs','src/registry/trust.rs'])
global_fn('registry','found_skill','read_found_skill',['src/registry.rs','src/registry/skills.rs'])
global_fn('check','in_order','sort_by_place',['src/check.rs'])
global_fn('check','without_broken','refuse_broken_parts',['src/check.rs','src/check/refusal.rs'])
global_fn('check','lines_of','diff_lines',['src/check.rs','src/check/rule.rs'],True)
global_fn('manual','word_of','family_word',['src/manual.rs','src/manual/pages.rs']); global_fn('manual','members','family_primitives',['src/manual.rs','src/manual/pages.rs'])
# methods
method(ALL,['Permissions'],'beyond','exceeding','src/registry/permissions.rs') if False else None
for o,n in (('of_file','from_file'),('of_definitions','from_definitions'),('of_pack','from_pack'),('of_served','from_served'),('of_settings','from_settings')):
    assoc(['Permissions'],o,n,'src/registry/permissions.rs')
assoc(['PackFiles'],'of_texts','from_texts','src/registry/layers.rs')
method(['src/registry','src/call/loading.rs'],['PackFiles'],'care','validation','src/registry/layers.rs')
# variants and fields
word(['src/definition','src/registry','src/check','src/call','src/case','tests/wire'],r'\bConfigurable::Is\b','Configurable::Fixed'); word(['src/definition','src/registry','src/check','src/call'],r'\bConfigurable::Of\b','Configurable::FromConfig')
text('src/definition/fields.rs',('    Is(T),','    Fixed(T),'),('    Of(Located<String>),','    FromConfig(Located<String>),'),('Self::Is(value)','Self::Fixed(value)'),('Self::Of(key)','Self::FromConfig(key)'))
word(['src','tests'],r'\bValidation::Known\b','Validation::Skipped')
text('src/definition/reader.rs',('    Known,','    Skipped,'))
word(['src/definition','src/registry','src/call/loading.rs'],r'\bcare\b','validation')
word(['src/definition','src/mcp','src/call'],r'(?<=\.)tasking\b','task_policy'); word(['src/mcp/lists.rs'],r'\btasking(?=: )','task_policy')
text('src/definition/tool.rs',('pub tasking:','pub task_policy:')); word(['src/definition/tool.rs'],r'\btasking\b','task_policy'); word(['src/definition/prompt.rs'],r'\btasking\b(?=:)','task_policy')
word(['src/call'],r'(?<=pack\.)made\b|(?<=pack\(\)\.)made\b','compiled')
word(['src/case','src/registry','src/check'],r'(?<=\.)made\b','compiled')
word(['src/call','tests/wire'],r'\bchecks(?=: (served\.|pattern\.|CallContract))','contract')
word(['src/registry.rs','src/registry/pack.rs','src/registry/contract.rs'],r'\bchecks\b','contract')
word(['src/registry/pack.rs'],r'\bmade\b','compiled')
word(['src/call','src/mcp','src/cli/list.rs','src/registry','src/check'],r'(?<=\.)checks\b','contract')
word(['src/definition'],r'\breading\b','reader')
word(['src/registry/selection.rs','src/call/loading.rs'],r'\bPackSelection::Yes\b','PackSelection::Served'); word(['src/registry/selection.rs','src/call/loading.rs'],r'\bPackSelection::No\b','PackSelection::Dormant')
text('src/registry/selection.rs',('    Yes,','    Served,'),('    No(Vec','    Dormant(Vec'))
# the alias of Schema
text('src/definition/workspace.rs',('/// JSON that was written in TOML, and the place of each part.\npub type Written = Schema;\n\n',''),('(Located<String>, Written)','(Located<String>, Schema)'))
text('src/definition.rs',(', Written, read_workspace',', read_workspace'))

# --- further methods
text('src/registry/pack.rs',('written.par_iter().map(|(_, file)| read_definitions(file))','written.par_iter().map(|(_, file)| read(file))'))
PERM=['src/registry','src/cli/trust/listing.rs','src/cli/trust/recorded.rs','src/cli/doctor/packs.rs','src/cli/list.rs','src/call/status.rs']
word(PERM,r'\.words_within(?=\()','.describe_within'); word(['src/registry','src/cli/doctor/packs.rs','src/cli/list.rs','src/call/status.rs','src/cli/trust/recorded.rs'],r'\.words(?=\()','.describe')
word(['src/cli/trust/listing.rs'],r'(?<=asks)\.words(?=\()','.describe'); word(['src/cli/trust/listing.rs'],r'(?<=before)\.words(?=\()','.describe')
word(['src/registry'],r'\.beyond(?=\()','.exceeding'); word(['src/cli/trust/listing.rs'],r'(?<=asks)\.beyond(?=\()','.exceeding')
word(['src/registry/permissions.rs'],r'\bfn words_within\b','fn describe_within'); word(['src/registry/permissions.rs'],r'\bfn words\b','fn describe'); word(['src/registry/permissions.rs'],r'\bfn beyond\b','fn exceeding')
word(['src/registry/permissions.rs'],r'\bof_program\b','describe_program'); word(['src/registry/permissions.rs'],r'(?<=[.\s])reach(?=\()','level')
word(['src/registry/trust.rs','src/registry/workspace_files.rs'],r'\bknows\b','has_record')
word(['src'],r'(?<=files)\.of_pack(?=\()','.for_pack'); word(['src/registry/layers.rs'],r'\bfn of_pack\b','fn for_pack')
word(['src/definition','src/registry'],r'\bcomputes(?=\()','has_computed_texts')
word(['src/definition','src/registry','src/call/reload.rs'],r'(?<=tool)\.described(?=\()','.describe_with_operations'); word(['src/definition/tool.rs'],r'\bfn described\b','fn describe_with_operations')
word(['src/definition'],r'\.needed(?=\()','.required'); word(['src/definition/fields.rs'],r'\bfn needed\b','fn required')
word(['src/definition'],r'\.key_at(?=\()','.key_place'); word(['src/definition/fields.rs'],r'\bfn key_at\b','fn key_place')
assoc(['Checker'],'later','lazy','src/definition/schema/checker.rs'); word(['src/registry/settings.rs'],r'map\(Checker::later\)','map(Checker::lazy)')
word(['src/definition/schema/checker.rs'],r'\bready(?=\()','compile_now')
word(['src/definition/schema/checker.rs'],r'\bDefaultsPlan::of\b','DefaultsPlan::from_schema'); word(['src/definition/schema/checker.rs'],r'\bfn of\b','fn from_schema')
for n in 'root schema value types pattern format reference'.split():
    word(['src/definition/schema/lint.rs'],r'(?<=self\.)'+n+r'(?=\()','check_'+n); word(['src/definition/schema/lint.rs'],r'(?<=linter\.)'+n+r'(?=\()','check_'+n); word(['src/definition/schema/lint.rs'],r'(?<=    fn )'+n+r'(?=\(&mut self)','check_'+n)
word(['src/definition/schema/lint.rs'],r'(?<=self\.)wrong(?=\()','report_wrong'); word(['src/definition/schema/lint.rs'],r'(?<=    fn )wrong(?=\()','report_wrong')
for n in 'template expression helper parameters parameter block partial decorator variable'.split():
    word(['src/template/usage.rs'],r'(?<=self\.)'+n+r'(?=\()','visit_'+n); word(['src/template/usage.rs'],r'(?<=walk\.)'+n+r'(?=\()','visit_'+n); word(['src/template/usage.rs'],r'(?<=    fn )'+n+r'(?=\(&mut self)','visit_'+n)
word(['src/template'],r'(?<=\.)within(?=\(base\))','relative_to'); word(['src/template/usage.rs'],r'\bfn within\b','fn relative_to')
word(['src/template/usage.rs'],r'(?<=self\.)meaning(?=\()','resolve_parameter'); word(['src/template/usage.rs'],r'\bfn meaning\b','fn resolve_parameter')
word(['src/case.rs'],r'(?<=self\.)act(?=\()','perform'); word(['src/case.rs'],r'\bfn act\b','fn perform')
word(['src/case.rs','src/case/stage.rs'],r'(?<=\.)ring(?=\()','refresh_if_due'); word(['src/case.rs','src/case/stage.rs'],r'\bfn ring\b','fn refresh_if_due')
word(['src/case.rs'],r'(?<=self\.)placed(?=\(step)','expand_expectations'); word(['src/case.rs'],r'\bfn placed\b','fn expand_expectations')
word(['src/case.rs','src/case/variables.rs'],r'(?<=[.])placed(?=\()','expand_workspace'); word(['src/case/variables.rs'],r'\bfn placed\b','fn expand_workspace')
word(['src/case.rs'],r'(?<=CaseRun::)begin\b','start'); word(['src/case.rs'],r'\bfn begin\b','fn start')
fnname(['src/case.rs'],'play','run_in_mode'); fnname(['src/case/expectation.rs'],'words','answer_texts')
word(['src/registry.rs'],r'\broute_to\b','add_routes')
word(['src/check/refusal.rs'],r'(?<=item\.)kind(?=\()','list_index'); word(['src/check/refusal.rs'],r'\bfn kind\b','fn list_index')
text('src/registry/permissions/tests.rs',('= read(&Source','= read_definitions(&Source'))
text('tests/wire/fixture.rs',('        made: toolsd','        compiled: toolsd'),('tasking: TaskPolicy','task_policy: TaskPolicy'))
