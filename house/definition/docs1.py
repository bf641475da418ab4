# Comments in plain technical English.
from fn_table import *
def doc(path,*pairs): text('src/'+path,*pairs)
doc('definition/schema/document.rs',
('//! A JSON Schema as it was written in TOML, with the place of each part; and as clients see it: verbatim and in order,\n//! with the shared schemas it refers to, its root closed.','//! A JSON Schema written in TOML, with the place of each part, and its published form: the author\'s text in its order, plus\n//! the shared schemas that it refers to and a keyword that closes its root.'),
('/// The same without the places of its parts: of a schema in which no fault will be told.','/// The schema in a tree, with the place of its root only: for a schema that is not validated.'),
('/// The schema in a tree.','/// The schema in a tree, with the place of each part.'),
('/// The schema of no arguments at all, placed at the definition that gives none.','/// The schema of an object without properties, placed at the definition that has no schema.'),
('/// Whether a reference inside a schema leads somewhere. Anchors are left to whoever compiles the schema.','/// Whether a reference inside a schema resolves. Anchors are checked when the schema is compiled.'),
('/// Calls `found` with every `$ref`: the way to its schema, and its text.','/// Calls `found` with every `$ref`: the path to its schema, and its text.'),
('        // Most values are none that could hold a schema: a look at the value is cheaper than one at the table.','        // Most values cannot hold a schema, and checking the value is cheaper than searching the table.'),
('/// The names of the shared schemas that a schema uses, also through others.','/// The names of the shared schemas that a schema uses, directly or through others.'))
doc('definition/schema/violation.rs',
('//! Violations in words that a model can act on.','//! Turns errors of the validator into violations, worded so that a model can act on them.'),
('/// The violations in `value` that one error of the validator stands for.','/// Describes one error of the validator as violations in `value`.'),
('/// Names that an object has and its schema does not know, which knows these.','/// The violations for names that an object has and its schema does not declare; `known` are those it declares.'),
('/// How far a value is from an alternative: one that another constant rules out is further than one that lacks something.','/// The distance of a value from an alternative. One that a constant rules out is further away than one that lacks a key.'),
('/// Alternatives that one key tells apart, as `op` does, where its value is that of none: all its values are told.','/// The violation for alternatives with a discriminator, such as `op`, whose value fits none of them: it lists all values.'),
('/// What one value must be, and what it is.','/// Describes what one value must be, and what it is instead.'),
('/// A value, or what kind of value it is where it is long.','/// The value, or its kind if the value is long.'),
('/// A description as a part of a sentence.','/// Turns a description into a part of a sentence.'),
('/// At most so many characters of a text.','/// The first `most` characters of a text.'),
('/// The names of the properties that an object\'s schema knows, also through references and its parts.','/// The names of the properties that an object\'s schema declares, directly, by reference or in its parts.'))
doc('definition/schema/checker.rs',
('//! Checks values by a schema: compiled once, offline, in linear time, every violation at once.','//! Validates values by a schema, which is compiled once and offline: linear time, all violations at once.'),
('    /// Made of it when it is first needed, and so are the next.','    /// This and the next two are made of `given` when they are first needed.'),
('/// What checks values.','/// The validator of a schema.'),
('    /// A schema that is known to be sound: it is compiled when a value is first checked.','    /// A checker of a schema that is known to be sound: it is compiled when a value is first checked.'),
('    /// Compiles what waits for it; a schema that cannot be used is a fault.','    /// Compiles the schema now.\n    ///\n    /// # Errors\n    /// The schema cannot be used.'),
('    /// What stopped the search is told by the guard of the call.','    /// The guard of the call reports what stopped a search.'),
('/// A pattern as schemas have them: without look-around.','/// Compiles a pattern of a schema: look-around and back-references are refused.'),
('/// The sizes of all patterns that a schema has for names.','/// The total size of the patterns that a schema has for names of properties.'),
('/// What is wrong with the names of a value, if they are more than patterns of this size can be held against.','/// Says so if a value has more names than patterns of this size can be matched with.'))
doc('definition/schema/lint.rs',
('//! What is wrong with a schema as it was written: found at load, each fault at its place.','//! Lints a schema as it was written; each fault has its place.'),
('/// Every fault of a schema:','/// Reports every fault of a schema:'),
('/// Deeper nesting than this is refused: nobody reads it, and walking it costs stack.','/// The deepest nesting that is accepted: walking a schema uses stack.'))
doc('definition/schema/keyword.rs',('/// The way from a schema to one inside it; displayed as a part of a JSON pointer.','/// The step from a schema to one inside it; displayed as a part of a JSON pointer.'),
('/// The schemas inside a keyword\'s value, each with the way there from the keyword\'s schema.','/// The schemas inside a keyword\'s value, each with the step that leads to it.'),
('/// What a reference within a schema leads to.','/// Resolves a reference within the schema `root`.'))
doc('definition/case.rs',
('    /// The capabilities of the client; without them those that its answers need.','    /// The capabilities of the client; if absent, those that its answers need.'),
('        /// By so many milliseconds.','        /// The milliseconds to move it by.'),
('    /// `memory` or `disk`.','    /// Where the case runs: `memory` or `disk`.'),
('/// Everything of a case but its steps.','/// Reads everything of a case except its steps.'),
('/// One table may hold several acts; each becomes a step, what is expected belongs to the last.','/// Reads one table. It may hold several actions: each becomes a step, and the last one has the expectations.'))
doc('definition/pack.rs',
('/// Tells of grants that cover nothing, because no path leads out of its root.','/// Warns of grants that cover nothing, since no path may lead out of its root.'),
('/// The programs, each once, and where each is named. What cannot be granted is told at its place.','/// Reads the granted programs, each once, with the place where each is named. Programs that cannot be granted are reported.'),
('    /// A function that gives what the instructions are filled with, and its script.','    /// The function that returns the context of the instructions, and its script.'),
('/// Skills: those that lie among the files of the pack, or those that a function finds.','/// Skills: folders among the files of the pack, or folders that a function finds.'),
('/// When the graph is looked at again.','/// When the graph is refreshed.'),
('        /// So many milliseconds lie between two looks; 0 = no look by the clock.','        /// Milliseconds between two refreshes; 0 = the clock causes none.'),
('        /// Whether it is also looked at when a file that it was made of changes.','        /// Whether a change of a file that it was made of causes a refresh.'),
('    /// When it is looked at again.','    /// When it is refreshed.'),
('/// Why a program cannot be granted.','/// The fault of a program that cannot be granted.'))
doc('definition/file.rs',
('/// Reads a definition file. What could be read is returned, whatever else is wrong with it; a required text that\n/// is missing is an empty one, and told.','/// Reads a definition file to its end. Returns what could be read, and every fault; a required text that is missing is\n/// reported, and empty in the result.'),
('/// Reads a definition file that is known to be sound by the tree that the build made of it, else by its text.','/// Reads a definition file inside the binary, which is known to be sound: by the tree that the build made of it, else by its\n/// text.'))
doc('definition/reader.rs',
('/// How closely a file is looked at.','/// How closely a definition file is validated.'),
('    /// All of it; every fault is told, at its place.','    /// In full: every fault is reported, at its place.'),
('    /// They are known to be sound: nothing is looked for, no places are kept, and what only tests run, examples and\n    /// cases, is passed over.','    /// Not at all, since the file is known to be sound: no places are kept. Its examples and cases, which only tests run, may\n    /// be missing.'),
('/// What the lowering of one file shares.','/// The state that the readers of one file share.'))
doc('definition/icon.rs',('/// Icons as the protocol writes them; those of a `file` keep that key for whoever reads the file.','/// Reads icons into the form of the protocol. One with `file` keeps that key: the registry puts the content in its place.'))
doc('definition/workspace.rs',
('    /// The packs that serve, exactly these; nothing = those whose `when` fits.','    /// The packs that serve, exactly these; if absent, those whose `when` fits.'),
('    /// `[packs.NAME]`: the configuration of each pack, checked by whoever knows its schema.','    /// `[packs.NAME]`: the configuration of each pack. The registry checks it by the schema of the pack.'),
('    /// How many entries a page of a list has; nothing = all.','    /// How many entries a page of a list has; if absent, all.'),
('/// `[http]`: what is nothing stays as it usually is. Times are in milliseconds.','/// `[http]`: an absent value leaves the default. Times are in milliseconds.'),
('/// Reads a `toolsd.toml` to its end. What could be read is returned, whatever else is wrong with it.','/// Reads a `toolsd.toml` to its end. Returns what could be read, and every fault.'))
doc('definition/operation.rs',
('/// What a tool may not have beside operations: each of them has its own.','/// The keys that a tool with operations may not have, since each operation has its own.'),
('/// One operation, read but not yet put together with its tool.','/// An operation that is read, but not yet combined with its tool.'),
('/// What the operation adds. An argument stands either with the tool or with operations; what is required must be there.','/// Reads what the operation adds to the arguments. An argument is declared either by the tool or by operations, and every\n/// required one must be declared.'),
('/// The schema that one operation is held to.','/// The schema by which calls of one operation are validated.'))
doc('definition/fields.rs',
('    /// A text that must be there; an empty one at the header where it is missing, which was told.','    /// A required text. If it is missing, which has been reported, an empty one at the header.'),
('/// Whether a value is what its key takes; if not, that is told at the part which is wrong.','/// Whether a value has the shape that its key takes; if not, the wrong part is reported.'),
('/// Values of the right kind that are not allowed.','/// Reports a value of the right kind that is not allowed.'),
('    /// Opens a table. Anything else but a table has been refused before and has no keys.','    /// Opens a table by its grammar and reports what is wrong with its keys. A node that is no table has been refused before,\n    /// and has no keys.'),
('/// What begins a value that the configuration of the pack holds.','/// The prefix of a value that is taken from the configuration of the pack.'),
('/// A value that is written, or that the configuration of the pack holds.','/// A value that is written in the definition, or taken from the configuration of the pack.'),
('    /// It is written.','    /// The value.'),('    /// The configuration has it, under this key.','    /// The key of the configuration.'),
('    /// The value, in this configuration; `of` reads the one that it holds.','    /// The value, given the configuration of the pack; `of` converts a value of the configuration.'))
doc('definition/limits.rs',('/// Limits, where they differ from those above them.','/// Limits that override those of the enclosing definition.'))
doc('definition/tool.rs',
('    /// The operation that arguments mean, and its index; nothing if the tool has none of that name.','    /// The operation that arguments choose, and its index; none if the tool has no such operation.'),
('    /// The schema that arguments are held to: that of the operation they mean, else that of all.','    /// The schema by which arguments are validated: that of the chosen operation, else that of the tool.'),
('    /// The description with the list of the operations behind it.','    /// The description, followed by the list of the operations.'),
('/// Whether calls run as tasks, and how those are kept.','/// Reads whether calls run as tasks, and how long tasks are kept.'),
('/// The declared effect. Constants and plain templates have none; a primitive has its own.','/// Reads the declared effect. Constants and plain templates need none; a primitive has its own.'))
doc('definition/code.rs',('/// A URI template that is none.','/// A URI template that cannot be parsed.'),('/// A format that nothing checks.','/// A format that is not known.'))
# registry
doc('registry.rs',
('    /// The packs that do not serve here, and the markers each looked for.','    /// The packs that do not serve here, and the markers that each needs.'),
('    /// The fault of whoever asks for it.','    /// The fault with which a request for it is answered.'),
('    /// What a call is held to.','    /// The contract of its calls.'),('    /// What a read is held to.','    /// The contract of its reads.'),('    /// What getting it is held to.','    /// The contract of getting it.'),
('    /// The operation that arguments mean, and what a call of it is held to.','    /// The operation that arguments choose, and the contract of its calls.'),
('    /// What a pack that serves may do, in the words in which trust is asked for; nothing if none of that name serves.','    /// The permissions of a pack that serves; none if no pack of that name serves.'),
('/// The skills that are served, found by their URIs and by those of their files.','/// The skills that are served, by their URIs and by those of their files.'),
('    /// Adds one. If its URI is taken, nothing happens, and the pack that has it comes back.','    /// Adds a skill. If its URI is taken, the index stays as it is, and the result is the pack that has it.'),
('            // A file of a skill within a skill is a file of both, and the same.','            // A file of a nested skill belongs to both skills.'),
('    /// Whether there is none.','    /// Whether it has no skill.'),
('/// Each public name, and URI, with the pack that has it.','/// The kind and the name, or URI, of everything that is published, and the pack that claimed it.'),
('/// What a registry is put together of.','/// The input of [`assemble`].'),
('/// Puts a registry together. A name or URI that two packs claim is a fault that names both; the first one keeps it.','/// Assembles a registry. A name or URI that two packs claim is a fault that names both; the first pack keeps it.'))
doc('registry/contract.rs',
('//! What a call of a tool, a read or a prompt is held to: schemas in their final form, compiled, and limits.','//! The contract of a call of a tool, a read or a prompt: its schemas in their final form, compiled, and its limits.'),
('/// What a call of a tool, a read or a prompt is held to.','/// The contract of a call of a tool, a read or a prompt.'),
('/// The schemas of a tool: of its arguments as published, of its result, and what a call is held to.','/// The schemas of a tool: that of its arguments, as published; that of its result; and the contract of its calls.'),
('/// Gives a schema its final form, or tells why it has none.','/// Brings a schema into its final form, or says why that is impossible.'),
('/// A pack whose schemas are compiled.','/// Compiles the contracts of a pack.'),
('    /// Whether a checker is made now, or when it is needed.','    /// Whether checkers are compiled now, or when they are first needed.'),
('    /// The schemas of each tool. Tools know nothing of each other: they are compiled side by side.','    /// The schemas of each tool. Tools are independent of each other, so they are compiled in parallel.'),
('    /// What each operation of a tool is held to.','    /// The contract of each operation of a tool.'),('    /// What the reads of each resource are held to.','    /// The contract of each resource.'),('    /// What getting a prompt is held to.','    /// The contract of a prompt.'),
('    /// The schema in its final form, compiled; what is wrong with it is told.','    /// The schema in its final form, and its checker; what is wrong with it is reported.'),
('    /// The same for each operation of a tool, in the order of its operations.','    /// The contract of each operation of a tool, in the order of its operations.'))
doc('registry/layers.rs',
('    /// Its files, rooted so that `tools.d` and the others lie at the top, or, if it needs trust, in `.toolsd`; nothing for\n    /// those inside the binary.','    /// Its files, with `tools.d` and the others at the root or, if it needs trust, in `.toolsd`; none for the layer inside\n    /// the binary.'),
('    /// Its text; nothing if it is no UTF-8.','    /// Its text; none if it is not UTF-8.'),
('    /// How closely a start must look at them: a test holds that those of the binary are sound, as long as none comes\n    /// from another layer and none is removed by one.','    /// How closely they must be validated. A test ensures that the files inside the binary are sound; that holds as long as no\n    /// other layer adds or removes one.'),
('    /// One hash of all paths, layers and contents; those inside the binary stay the same for as long as it runs.','    /// One hash of all paths, layers and contents. Contents inside the binary are left out: they do not change while it runs.'),
('        // What was looked at is what is compiled: the bytes are read once.','        // The bytes are read once, so those that were checked are those that are compiled.'))
doc('registry/pack.rs',
('    /// Checks another configuration, as a case has it.','    /// Checks another configuration, such as that of a case.'),
('    /// The folder it works in; nothing in a pack that is not called.','    /// The folder it works in; none in a pack that is not called.'),
('    /// The root within the grants, by what a call may do: nothing, read, write, run. Grants are compiled once.','    /// The root within the grants, by the effect of a call: pure, reads, writes, runs. Grants are compiled once.'),
('/// A pack with all that is wrong with it: what `check` looks at.','/// A compiled pack with all its faults: what `check` examines.'),
('/// What it was made into.','/// Its compiled form.') if False else ('/// What a pack was made into.','/// The compiled form of a pack.'),
('    /// What it was made into.','    /// Its compiled form.'),
('    /// For each tool: the published schema, the schema of the result, what a call is held to.','    /// The schemas of each tool.'),
('    /// For each resource: what a read is held to.','    /// The contract of each resource.'),('    /// For each prompt: what getting it is held to.','    /// The contract of each prompt.'),
('        // Those that a function fills are computed when somebody is there to read them.','        // Instructions with a `context` function are computed when a client asks for them.'),
('/// The definitions of a pack with what calls of them are held to.','/// The definitions of a pack, each with its contract.'),
('    /// How closely they were looked at, and are from here on.','    /// How closely they were validated, and are from here on.'),
('/// Reads every definition file of a pack, in the order of their paths. What stands twice is told, and the first counts.','/// Reads every definition file of a pack, in the order of their paths. A table that occurs twice is reported, and the first\n/// one counts.'),
('    // Files know nothing of each other: they are read side by side.','    // Files are independent of each other, so they are read in parallel.'),
('/// What stands for a `[pack]` that is not written: it always serves, and may touch nothing.','/// The definition of a pack without `[pack]`: it always serves, and has no grants.'),
('/// Compiles a pack whose definitions are read. Of one that is known to be sound, what a start does not need waits for the\n/// first call.','/// Compiles a pack whose definitions are read. If it is known to be sound, what is not needed at the start is compiled when\n/// it is first called.'),
('/// What they are made of.','/// The texts of the templates of a pack.'),
('/// Templates that are there.','/// Templates that are compiled already.'))
doc('registry/permissions.rs',
('    /// What of this was not asked for before, or not as far.','    /// The permissions that exceed those of `before`: new ones, and wider ones.'),
('    /// The same of a part of what a file asks for: what a program may touch is told beside what its pack may in all.','    /// The same for a part of the permissions `whole`: what a program may touch is described relative to what its pack may.'),
('    /// In words, one part for each kind: `reads "."`, `git: write`.','    /// Describes them in words, one entry for each kind: `reads "."`, `git: write`.'),
('/// Whether all that the glob `after` covers is covered by `before`. Where that cannot be told from how the two are\n/// written, it is not.','/// Whether the glob `before` covers all that `after` covers. If their texts do not show it, the answer is no.'),
('            // Of a program that ran before, only what is new is here: that it has nothing new says nothing.','            // For a program that was granted before, only new permissions are here; an empty list then means nothing.'),
('    // A variable is taken as it is written, so its braces are none of a glob.','    // Braces of `${NAME}` are not those of a glob.'))
doc('registry/selection.rs',
('    /// Those whose markers are found, and those without markers.','    /// The packs whose markers are found, and the packs without markers.'),
('            // A folder above that cannot be opened holds nothing for us.','            // A parent folder that cannot be opened ends the search.'),
('/// Whether a pack serves, given its root; the markers it looked for in vain if not.','/// Decides whether a pack serves, given its root.'),
('    /// It does not: the markers it looks for.','    /// It does not: the markers that it needs.'))
doc('registry/workspace_files.rs',
('/// More entries than a person could have read are none of a pack.','/// The most entries of a layer: more than this nobody has read.'),
('/// The paths of the pack files, from the root of the workspace, in their order; what cannot be used is told.','/// The sorted paths of the pack files, from the root of the workspace; what cannot be used is reported.'),
('/// The files of a layer that needs no trust, by their path from its root, each read once; those that others can change are\n/// told, and not used.','/// The files of a layer that needs no trust, by their path from its root, each read once. Files that others can change are\n/// reported, and not used.'),
('/// The bytes of the pack files that may be used, by their path from the root of the workspace; why others may not is told.','/// The bytes of the trusted pack files, by their path from the root of the workspace; why others are not used is reported.'),
('        // A file of which nothing is known is not read: it may be anything, and of any size.','        // A file without a record of trust is not read: it may be of any size.'),
('/// Whether a file is none of a pack: editors leave such beside it. Folders of samples may have names like that.','/// Whether a file is hidden and so belongs to no pack, such as those that editors leave. Folders may have such names.'))
doc('registry/settings.rs',
('        // A symlink that leads nowhere is looked at too: it is told.','        // A broken symlink is read too, so that it is reported.'),
('    /// What is put before the public names of a pack; mostly nothing.','    /// The prefix of the public names of a pack; usually empty.'),
('/// Takes from an untrusted file all that decides what is served, where and under which name; each key is told.','/// Removes from an untrusted file all that decides what is served, where, and under which name; each key is reported.'),
('        // Known to be sound, and known to need nothing: a configuration that is not written has no fault.','        // The schema is known to be sound and the configuration is not written: nothing can be wrong.'))
doc('registry/trust.rs',
('    /// Whether anything is said of a file: one of which nothing is said need not be read.','    /// Whether there is a record of a file; a file without one need not be read.'),
('    /// Allows a file as it is now; edits of it count for as long as they did.','    /// Trusts a file as it is now; how long edits of it are trusted stays as it was.'),
('    /// Refuses a file whose bytes are not those that were allowed, unless edits of it count `now_ms` and it asks for no\n    /// more than it did. The fault says why.','    /// Checks whether a file may be used.\n    ///\n    /// # Errors\n    /// Its bytes are not those that were trusted, and either edits of it are not trusted at `now_ms`, or it asks for more than\n    /// before.'))
doc('registry/skills.rs',('/// Reads a skill: `base` makes the path of its URIs from its name, `manifest` its files from `skill://` and that path.\n/// Gives what should be better about it, too.','/// Reads a skill. `base` makes the path of its URIs from its name, `manifest` its files from `skill://` and that path.\n/// Returns the skill and its warnings.'),
('/// The hashes of files, for as long as the files are as they were.','/// The hashes of files, valid for as long as their metadata do not change.'),
('        // A young stamp may stand for two states.','        // A file may have changed twice within the resolution of a recent time stamp.'))
# check
doc('check.rs',('/// Everything that the rules find in a pack and that is not told yet, in the order of files and places.','/// Everything that the rules find in a pack and that is not yet among its faults, in the order of files and places.'),
('/// Sorts faults by file, place and code; those without a place come first.','/// Sorts diagnostics by file, place and code; those without a place come first.'))
doc('check/rule.rs',('/// A change that mends an example: in the file of that path the text, which stands there once, becomes the other.\n/// Where the file is new, the text is empty; where it goes, the other is.','/// A change that fixes an example: path, text, replacement. The text occurs in the file once; it is empty for a new file. An\n/// empty replacement removes the file.'),
('    /// What mends it: then it finds nothing.','    /// The changes after which it finds nothing.'),('/// A fault of a rule.','/// An error that a rule reports.'),('/// A warning of a rule.','/// A warning that a rule reports.'),
('    /// The files of its example, mended: path and text.','    /// The files of its example after the fixes: path and text.'),('/// A change as the lines that go and the lines that come.','/// A change as removed and added lines.'))
doc('check/subject.rs',('    /// What the rules look at in a pack, among others.','    /// The subject for a pack; `others` are the other packs.'),
('    /// The paths of all its files, also of those that are no texts, from the root.','    /// The paths of all its files from the root, binary files included.'),
('    /// The functions of scripts that a script sees: its own, and those of the library.','    /// The functions that a script can call: its own, and those of the libraries.'))
doc('check/refusal.rs',('//! The sound part of a broken pack: what its faults touch is refused by name, the rest can be served.','//! Removes from a broken pack the parts that its faults affect, so that the sound rest can be served.'),
('/// The codes of faults in what only tests run: they keep nothing from being served.','/// The codes of faults in examples and cases, which only tests run: they prevent nothing from being served.'),
('/// A definition file with such a fault is known in part only.','/// The code of a file that could be read only in part.'),
('/// Takes from a broken pack each tool, resource and prompt that a fault touches, and says so. Nothing is left of a pack\n/// that a fault touches as a whole: its `[pack]`, its graph, what all of it uses.','/// Removes each tool, resource and prompt that a fault affects, and returns them with the reasons. A fault of what the whole\n/// pack uses, such as its `[pack]` or its graph, removes everything.'),
('/// What a fault touches.','/// What a fault affects.'),
('        // The script cannot be compiled, or its top level is wrong: none of its functions is there.','        // The script cannot be compiled: none of its functions can be called.'),
('    // A part of other templates, or one that a script names: whoever renders at all may need it.','    // It is a partial, or a script names it: everything that renders may need it.'))
# template
doc('template.rs',('    /// The files that cannot be read: told once, not again by whoever uses them.','    /// The files that cannot be compiled: reported once, and not again where they are used.'),
('    /// Compiles files. Each file\'s faults are told; the others can be used.','    /// Compiles files. Returns the faults of all files; the sound files can be used.'),
('    /// Variables of a template whose own context is `base`; those in `given` are filled by whoever includes it.','    /// Collects the variables of a template whose own context is `base`; the template that includes it fills those in `given`.'))
doc('template/pure.rs',('/// What makes texts and values out of values, and nothing else.','/// The pure primitives that compute values from values.'),
('/// A pure primitive reaches nothing; should one try, it is told so.','/// A host without a graph, files or other templates: each access to them is a fault.'),
('/// A name alone is the variable of that name, although a primitive is called so too.','/// Evaluates a name without arguments: it is the variable of that name, even if a primitive has the same name.'))
doc('template/usage.rs',('//! What a template asks for: variables with their scope, helpers, partials, each with its place.','//! What a template uses: variables with their scope, helpers, partials, each with its place.'),
('/// What a template asks for, in the order it stands.','/// What a template uses, in the order of its text.'),('/// One thing that a template asks for.','/// One use in a template.'),
('    /// What a path means here; nothing for `@index` and the like.','    /// Resolves a path in the current scope; none for `@index` and the like.'))
doc('template/blocks.rs',('/// Registers them over those of handlebars.','/// Registers them in place of those of handlebars.'),
('            // Lists within lists multiply: a template pays for its rounds as a script does.','            // Nested lists multiply, so each iteration counts towards the limits of the call.'))
doc('template/fault.rs',('/// Where the text of a template stands, so that a line and a column of it become a place.','/// The text of a template and where it is written: turns a line and a column of it into a place.'))
# manual
doc('manual.rs',('//! What can be looked up: primitives, tables, rules and fault codes, each from the table it is declared in; and the pages made of them.','//! The reference manual: primitives, tables of definitions, rules and error codes can be looked up, and the pages of the\n//! documentation are generated from them.'),
('/// What a name stands for, or everything there is.','/// The entries that have a name, or all entries.'),
('        // A table may be named as it is written, which no other thing is.','        // Only tables can be looked up with their brackets.'),
('    /// Whether there is nothing.','    /// Whether there is no entry.'),('    /// The same for machines: an object','    /// The entries as JSON: an object'))
# case
doc('case.rs',('//! Runs cases and examples in worlds of memory, and tells how the result differs from what was expected.','//! Runs cases and examples in a world of their own, and reports how the result differs from what was expected.'),
('    /// What the scripts told meanwhile: how grave each line is, and its text.','    /// What the scripts logged meanwhile: level and text of each line.'),
('/// Plays a case in one era: how it went, and the result and the files of each step.','/// Runs a case in one answer mode. Returns the outcome, and the result and the files of each step.'),
('    /// Refreshes the graph if that is due by the clock of the case, and notes what clients are told.','    /// Refreshes the graph if that is due by the clock of the case, and records the notices.'),
('        // Each era plays in a folder of its own.','        // Each answer mode runs in a folder of its own.'))
doc('case/variables.rs',('/// Where a case says where the workspace lies: in memory always in the same place, on the disk never.','/// The variable for the path of the workspace, which differs in each run on the disk.'),
('    /// The same text with each `${name}` filled in. While nothing was kept a text stays as it is.','    /// The same text with each `${name}` filled in. As long as no value was kept, a text stays as it is.'))
doc('case/stage.rs',('    /// Whether it lies in a temporary folder, each time another one.','    /// Whether it is a temporary folder, a new one for each run.'),
('    /// All files as they are now, those of git excepted.','    /// All files as they are now, except those of git.'),
('    /// Writes a file. Where the case names its workspace, what lies neither there nor at home is left out.','    /// Writes a file. If the case names its workspace, files outside of it and of the home folder are left out.'),
('/// Lays the files of one folder out: of the pack, else of the first of `folders` that has it.','/// Lays out the files of one folder: that of the pack, else that of the first of `folders` that has it.'),
('    /// What clients were told since the last step.','    /// The notices since the last step.'),
('    /// Builds the graph, as a server does when it starts; nothing for a pack whose graph is looked at before each call.','    /// Builds the graph, as a server does when it starts. None for a pack whose graph is refreshed before each call.'))
doc('case/client.rs',('    /// What it was asked since this was last looked at.','    /// Takes the questions that it was asked since the last call of this.'))
doc('case/expectation.rs',('    /// What the client was told.','    /// The notices that were sent.'),
('/// Nothing if both are the same (the order of keys does not matter), else what differs.','/// None if both are equal (the order of keys does not matter), else how they differ.'),
('/// Nothing if `expected` is a part of `got`, else what differs: maps may have more keys, lists have as many items.','/// None if `expected` is a part of `got`, else how they differ: maps may have more keys, lists have as many items.'))
