package shell

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const lines = "printf 'one=1\\ntwo=2\\n# three\\n' > f\n"

var asBash = []string{
	`echo a b > out`,
	`echo -n a > out; echo b >> out`,
	`echo -e 'a\tb\nc' > out`,
	`echo "a  b" 'c  d' e\ f > out`,
	`x='a  b'; echo $x "$x" ${x} > out`,
	`x=" a b "; echo [$x] "[$x]" > out`,
	`x=a; y=$x-b; echo "$y" '$y' \$y > out`,
	`printf '%s=%s\n' a 1 b 2 > out`,
	`printf 'a%%b\n' > out`,
	`printf '%s\n' "$(echo a; echo b)" > out`,
	`x=$(printf 'a\n\n'); echo "$x." > out`,
	"cat > out <<EOF\na $(echo b) \\$c \"d\" \\e\nEOF",
	"cat > out <<'EOF'\na $(echo b) \\$c \"d\" \\e\nEOF",
	"cat > out <<-EOF\n\ta\n\t\tb\n\tEOF",
	"cat > out <<EOF\nEOF", "cat > out <<'EOF'\nEOF",
	`cat <<< "a b" > out`,
	`echo a | tee out > /dev/null; echo b | tee -a out > /dev/null`,
	`{ echo a; echo b; } > out; (echo c) >> out`,
	`echo a > f; mv f out`, `echo a > f; cp f out; echo b >> f`, `mkdir -p d; echo a > d/f; mv d/f out`,
	`mkdir -p d; echo a > f; cp f d/; cat d/f > out`,
	`x=; echo "${x:-a}${x-b}${y:-c}${y-d}${x:+e}${x+f}" > out`,
	`echo "${x:=a}$x" > out`,
	`x=a.b.c; echo ${x%.*} ${x%%.*} ${x#*.} ${x##*.} > out`,
	`x=/etc/a/b.conf; echo ${x##*/} ${x%/*} > out`, `x=a; echo ${x%} ${x##} > out`,
	`x=aXbX; echo ${x/X/-} ${x//X/-} > out`,
	`x=aB; echo ${x,,} ${x^^} > out`,
	`a=(1 "2 3" 4); for i in "${a[@]}"; do echo "[$i]"; done > out`,
	`a=(1 "2 3" ""); printf '[%s]' ${a[@]}x > out`,
	`a=(1 2); a+=(3); echo "${a[@]}" ${a[0]} > out`,
	`for i in 1 2 3; do [ $i = 2 ] && continue; echo $i; done > out`,
	`for i in 1 2 3; do [ "$i" -eq 2 ] && break; echo $i; done > out`,
	`i=a; while [ "$i" != aaa ]; do i=${i}a; echo $i; done > out`,
	`until [ -f g ]; do echo a; echo > g; done > out`,
	`x=b; case $x in a|b) echo ab;; *) echo other;; esac > out`,
	`x=-ab; case $x in -*) echo flag;; *) echo other;; esac > out`,
	`if [ a = b ]; then echo 1; elif [[ ab == a* ]]; then echo 2; else echo 3; fi > out`,
	`if [[ a == b || -z "" && -n x ]]; then echo yes; fi > out`,
	`if ! [ a = b ]; then echo yes; fi > out`,
	`[ a = b ] && echo 1 > out || echo 2 > out`,
	`f() { local x=$1; echo "$x $2 $#"; return 0; echo no; }; f a b | sed 's/ [0-9]*$//' > out`,
	`f() { echo "$@"; shift; echo "$*"; }; f a b c > out`,
	`set -- a b; echo $1 $2 > out`,
	`set -e; false; echo a > out; true`, `set -e; [ a = b ] && false; echo a > out`, `set -e; if false; then :; fi; echo a > out`,
	`set -e; f() { false; echo a; }; f > out || true; echo b >> out`, `set -e; ! false; echo a > out`,
	`set -e; f() { false; echo a; }; f > out; echo b >> out`,
	`(exit 1); echo a > out`, `echo a > out; exit 0; echo b > out`,
	`X=1 bash -c 'echo $X' > out`, `export X=1; sh -c 'echo "$X$0"' name > out`,
	"echo 'echo in $1' > s; bash s arg > out", `eval "echo a > out"`, `eval "x=1"; echo $x > out`,
	"echo 'x=1' > s; . ./s; echo $x > out",
	`echo aGVsbG8= | base64 -d > out`,
	`cd /; cd "$OLDPWD" 2>/dev/null; true; echo a | cat - > out`,
	lines + `sed -i 's/one/uno/' f; cat f > out`,
	lines + `sed -i -e 's/=/ = /g' -e '/^#/d' f; cat f > out`,
	lines + `sed -i 's|\(t\)\(wo\)|\2\1|; ' f; cat f > out`,
	lines + `sed -E 's/^([a-z]+)=(.*)$/\2=\1 &/' f > out`,
	lines + `sed 's/o\?ne/X/' f > out`, lines + `sed -E 's/o+|w+/X/g' f > out`,
	lines + `sed '/two/a after' f > out`, lines + `sed '/two/i before' f > out`, lines + `sed '/two/c\instead' f > out`,
	lines + `sed '$a last' f > out`,
	lines + `sed 's/1/a.b*c\/d/' f > out`, lines + `sed 's,1,$x,' f > out`, lines + `x=v; sed "s,1,$x," f > out`,
	lines + `sed 's/[0-9]/N/;' f > out`, lines + `sed 's/(x)//' f > out`,
	lines + `grep -q two f && echo yes > out`, lines + `grep -q none f || echo no > out`, lines + `grep -E 'one|two' f > out`,
	lines + `grep -qF '#' f && echo yes > out`,
	`echo $UID ${HOME:+home} > out`,
	`x=1 y=2; echo $x$y > out; unset x; echo "[$x]" >> out`, `x=1 x=2 true; echo "[$x]" > out`,
	`echo a > out 2>&1; echo b >&2`,
	`x=$(echo a | tee f); cat f > out; echo $x >> out`,
	`env -u X echo a > out; nice -n 5 echo b >> out; timeout -k 1 5 echo c >> out; (exec -a x echo d >> out)`,
	`timeout "" true; echo a > out`,
	`echo "it's \"q\"" > out`, `echo a\
b > out`, `echo $'a\nb' > out`,
}

// What is followed of a script is what bash makes of it: each of asBash writes the file
// out.
func TestAsBash(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash to compare with")
	}
	for _, script := range asBash {
		dir := t.TempDir()
		cmd := exec.Command(bash, "-c", script)
		cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=/root"}
		_ = cmd.Run() // some end with a failure, as intended
		want, wrote := os.ReadFile(filepath.Join(dir, "out"))

		m := &Machine{Files: map[string]File{}}
		if err := m.Start().Run("script", script); err != nil {
			t.Errorf("%s\n%v", script, err)
			continue
		}
		f, found := m.Files["/out"]
		if found != (wrote == nil) || f.Content != string(want) {
			t.Errorf("%s\nhere %q (%v), bash %q (%v)", script, m.Reveal(f.Content), found, want, wrote == nil)
		}
	}
}

// What cannot be known is marked, and the mark says what it is.
func TestUnknown(t *testing.T) {
	for script, want := range map[string]string{
		`some-program > out`:                             "what “some-program” prints",
		`echo $(some-program x) > out`:                   "what “some-program x” prints",
		`some-program $(other) > out`:                    "what “some-program …” prints",
		`cp /usr/share/x out`:                            "the content of /usr/share/x, which user data did not write",
		`if some-program; then echo a > out; fi`:         "whether “some-program” succeeds",
		`systemctl is-active x && echo a > out`:          "whether “systemctl is-active x” succeeds",
		`[ -f /opt/x ] && echo a > out`:                  "whether the image has /opt/x",
		`while some-program; do echo a > out; done`:      "whether “some-program” succeeds",
		`case $(some-program) in a) echo a > out;; esac`: "which case holds",
		`for ((i=0;i<3;i++)); do echo a >> out; done`:    "how often the loop runs",
		`curl -fsSLo out https://example.org/x`:          "what “https://example.org/x” serves",
		`echo a > out; sed -i 'y/a/b/' out`:              "makes of it",
		`echo a > out; if x; then echo b > out; fi`:      "whether “x” succeeds",
		`echo a > out; if x; then rm out; fi`:            "whether “x” succeeds",
		`a=(b); echo "${!a[@]}" > out`:                   "${!a[@]}",
		`echo ${x:1:2} > out`:                            "${x:1:2}",
		`echo $((1+2)) > out`:                            "$((1 + 2))",
	} {
		m := &Machine{Files: map[string]File{}}
		if err := m.Start().Run("script", script); err != nil {
			t.Errorf("%s\n%v", script, err)
			continue
		}
		if why, unknown := m.Unknown(m.Files["/out"].Content); !unknown || !strings.Contains(why, want) {
			t.Errorf("%s\n%q (%v), want %q", script, why, unknown, want)
		}
	}
}

// Questions without an answer do not matter where both answers come to the same, and
// an alternative that ends the script is the one that failed.
func TestAgreement(t *testing.T) {
	for _, script := range []string{
		`if x; then echo a > out; else echo a > out; fi`,
		`if x; then echo b > other; fi; echo a > out`,
		`if x; then echo no >&2; exit 1; fi; echo a > out`,
		`x || exit 1; echo a > out`, `command -v x || install-x; echo a > out`,
		`until x; do sleep 5; done; echo a > out`,
		`apt-get update && apt-get install -y x && echo a > out`,
		`[ -e /etc/rancher/k3s/k3s.yaml ] && exit 0; echo a > out`,
		`for i in 1 2 3; do x && break; sleep 1; done; echo a > out`,
	} {
		m := &Machine{Files: map[string]File{}}
		if err := m.Start().Run("script", script); err != nil || m.Files["/out"].Content != "a\n" {
			t.Errorf("%s\n%q, %v", script, m.Reveal(m.Files["/out"].Content), err)
		}
	}
}
