# A repository with something of everything, made in one that has a commit of `a.txt`.
set -e
all() { git add -A -f; git commit -q --allow-empty -m "$1"; }
mkdir deep
echo '*.log' > .gitignore
printf 'a line\nanother line\n' > deep/b.txt
echo 'a line of b' > b.txt
echo gone > gone.txt
all files
git tag -a -m 'the first' v1
git branch merged
git checkout -q -b side
echo 'line of the side' > side.txt
all 'on the side'
git checkout -q main
printf 'one\nline two\nthree\n' > a.txt
git -c user.name=Bea -c user.email=bea@example.org commit -qam 'second line'
git mv b.txt c.txt
git commit -qm renamed
git mv c.txt b.txt
git commit -qm back
git checkout -q -b joined v1
echo joined > joined.txt
all 'to be joined'
git checkout -q main
git merge -q --no-ff -m joined joined
git notes add -m 'a note'
git branch side2 v1
echo 'stashed line' > deep/b.txt
git stash push -q -m aside
git clone -q --bare . .git/near
git remote add near .git/near
git fetch -q near
echo ignored > x.log
echo ignored > deep/y.log
