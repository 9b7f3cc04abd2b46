package cloudinit_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"nodestorm/sim/machine/cloudinit"
)

// Hostile user data is refused without much memory, and not carried out: what comes to its end joins no cluster, which
// is another error.
func TestHostile(t *testing.T) {
	for name, userData := range hostile(t) {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := kubelet(userData, machine)
			runtime.ReadMemStats(&after)
			if err == nil || errors.As(err, new(*cloudinit.NoJoinError)) {
				t.Errorf("it was carried out: %v", err)
			} else if text := err.Error(); len(text) > 500 || strings.Contains(text, "\n") {
				t.Errorf("error of %d bytes: %.200s", len(text), text)
			}
			// Including what was freed since: some take 100 MiB.
			if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 300 {
				t.Errorf("took %d MiB", took)
			}
		})
	}
}

func hostile(t *testing.T) map[string]string {
	bomb := strings.Repeat("\x00", 64<<20)
	anchors := "#cloud-config\na: &a [x,x,x,x,x,x,x,x,x]\n"
	for i, last := 0, "a"; i < 8; i++ {
		next := string(rune('b' + i))
		anchors += fmt.Sprintf("%s: &%s [%s]\n", next, next, strings.TrimSuffix(strings.Repeat("*"+last+",", 9), ","))
		last = next
	}
	long, many := strings.Repeat("a", 50_000), strings.Repeat("*x,", 60_000)
	var variables strings.Builder
	for i := range 9_999 {
		fmt.Fprintf(&variables, "A%d=1 ", i)
	}
	return map[string]string{
		"too long":            strings.Repeat("x", cloudinit.MaxUserData+1),
		"gzip bomb":           gz(t, bomb),
		"bomb in a file":      "#cloud-config\nwrite_files:\n- {path: /a, encoding: gz+b64, content: " + b64(gz(t, bomb)) + "}\n",
		"aliases":             anchors + "runcmd: *h\n",
		"anchor in itself":    "#cloud-config\nruncmd: &a [*a]\n",
		"deep YAML":           "#cloud-config\nruncmd: " + strings.Repeat("[", 100_000),
		"deep TOML":           "settings.a = " + strings.Repeat("[", 60_000),
		"deep shell":          "#!/bin/sh\n" + strings.Repeat("(", 100_000),
		"deep shell in if":    "#!/bin/sh\n" + strings.Repeat("if ", 50_000),
		"deep substitution":   "#!/bin/sh\nx=" + strings.Repeat("$(", 4_000) + strings.Repeat(")", 4_000),
		"deep braces":         "#!/bin/sh\n" + strings.Repeat("{ ", 9_000) + "a;" + strings.Repeat(" };", 9_000),
		"endless loop":        "#!/bin/sh\nwhile true; do :; done\n",
		"endless recursion":   "#!/bin/sh\nf() { f; }\nf\n",
		"script calls itself": "#cloud-config\nwrite_files:\n- {path: /a.sh, content: 'sh /a.sh'}\nruncmd: [sh /a.sh]\n",
		"doubling":            "#!/bin/sh\nx=aaaaaaaa\n" + strings.Repeat("x=$x$x\n", 60),
		"doubling a list":     "#!/bin/bash\nx=('' '')\n" + strings.Repeat("x=(\"${x[@]}\" \"${x[@]}\")\n", 60),
		"doubling a file":     "#!/bin/sh\necho aaaaaaaaaaaaa > /a\n" + strings.Repeat("cat /a /a > /b; mv /b /a\n", 60),
		"replacing":           "#!/bin/bash\nx=" + strings.Repeat("a", 10_000) + "\n" + strings.Repeat("x=${x//a/$x}\n", 6),
		"sed":                 "#!/bin/sh\necho " + strings.Repeat("a", 100_000) + " | sed 's/a/" + strings.Repeat("&", 10_000) + "/g' > /a\n",
		"archives":            nestedMIME(20),
		"files by aliases":    "#cloud-config\nx: &x {path: /a, content: " + long + "}\nwrite_files: [" + many + "]\n",
		"lines by aliases":    "#cloud-config\nx: &x " + long + "\nruncmd: [" + many + "]\n",
		"words by aliases":    "#cloud-config\nx: &x [" + strings.Repeat("a,", 20_000) + "]\nruncmd: [" + many + "]\n",
		"appending": "#cloud-config\nx: &x {path: /a, append: true, content: " + long[:30] + "}\n" +
			"write_files: [" + many[:3*50_000] + "]\n",
		"variables":           "#!/bin/sh\n" + variables.String() + "\n" + strings.Repeat("x\n", 9_000),
		"variables of a call": "#!/bin/sh\n" + strings.Repeat("env "+variables.String()+"x\n", 2),
		"variables by read":   "#!/bin/sh\nread " + strings.ReplaceAll(variables.String(), "=1", "") + "\n" + strings.Repeat("x\n", 9_000),
		"scripts with them":   "#!/bin/sh\n" + variables.String() + "\n" + strings.Repeat("sh -c x\n", 9_000),
		"sourcing":            "#!/bin/sh\necho '" + strings.Repeat("#aaaaaaa", 12_000) + "' > /a\n" + strings.Repeat(". /a\n", 9_000),
		"decoding":            "#!/bin/sh\necho " + long + " > /a\n" + strings.Repeat("base64 -d /a\n", 9_000),
		"matching":            "#!/bin/sh\necho " + long + " > /a\n" + strings.Repeat("grep -q 'a*a*a*a*b' /a\n", 4_000),
		"cases":               "#!/bin/sh\nx=" + long + "\ncase $x in " + strings.Repeat("*a*a*a*b|", 9_000) + "b) x;; esac\n",
		"trimming":            "#!/bin/sh\nx=" + long + "\n" + strings.Repeat("y=${x##*}\n", 9_000),
		"questions":           "#!/bin/sh\n" + strings.Repeat("if x; then x; fi\n", 9_000),
		"subshells with them": "#!/bin/sh\n" + variables.String() + "\n" + strings.Repeat("(x)\n", 9_000),
		"unit": "#cloud-config\nwrite_files:\n- path: /etc/systemd/system/kubelet.service.d/20-a.conf\n  content: |\n    [Service]\n" +
			"    Environment=A=" + long +
			"\n    ExecStart=\n    ExecStart=/usr/bin/kubelet --a=" + strings.Repeat("${A}", 10_000) + strings.Repeat(" $A", 10_000) + "\n",
	}
}

func nestedMIME(n int) string {
	text := "#cloud-config\n"
	for range n {
		text = "Content-Type: multipart/mixed; boundary=\"B" + fmt.Sprint(len(text)) + "\"\n\n--B" + fmt.Sprint(len(text)) + "\n" + text + "\n" +
			"--B" + fmt.Sprint(len(text)) + "--\n"
	}
	return text
}

func FuzzKubelet(f *testing.F) {
	f.Add(cloudConfig())
	f.Add(b64(gz(f, cloudConfig())))
	f.Add(mime("Content-Type: text/cloud-config\n\n" + cloudConfig()))
	f.Add("#!/bin/bash\n" + installAgent)
	f.Add(configured("v1beta3", "  kubeletExtraArgs:\n    cloud-provider: external\n"))
	f.Add("#!/bin/bash\nsed -i -E 's|^(A=)(.*)$|\\1\\2 ${x%%-*}|' /etc/default/kubelet\ncase $x in a|b) echo ${x:-y};; esac\n" +
		"kubeadm join x --node-name a")
	f.Fuzz(func(t *testing.T, userData string) {
		k, err := kubelet(userData, machine)
		if err == nil && k.NodeName == "" {
			t.Error("a kubelet without a name on a machine that has one")
		}
	})
}
