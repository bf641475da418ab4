# What the ordinary programs find in the workspace: `out` is empty again, all else is as it was.
rm -rf out
mkdir -p out tree/twig node_modules/.bin node_modules/tool
printf 'one\ntwo\nthree\n' > a.txt
echo one > tree/leaf
echo 'echo $0 $# $1' > script.sh
echo '{ "name": "x", "version": "1.0.0", "scripts": { "greet": "echo hi", "tool": "tool" } }' > package.json
echo 'class A { public static void main(String[] a) { System.out.println(1); } }' > A.java
printf '#!/usr/bin/env node\nconsole.log(1);\n' > node_modules/tool/tool.js
ln -sf ../tool/tool.js node_modules/.bin/tool
printf '#!/bin/sh\necho x\n' > tool.sh
printf '#!/bin/sh\necho own\n' > tree/twig/own
chmod 755 node_modules/tool/tool.js tool.sh tree/twig/own
cat > script.py <<'END'
import json, os, sys, tempfile
print(json.dumps({'a': len(sys.argv)}))
open('out/py', 'w').write('x')
END
printf 'all: out/made\nout/made: a.txt\n\tcp a.txt out/made\nmore:\n\t@echo $(shell echo shell)\n' > rules.mk
printf 'wrong:\n\t@exit 3\nown:\n\t./tool.sh\n' >> rules.mk
touch -d @1000000000 a.txt tree/leaf
