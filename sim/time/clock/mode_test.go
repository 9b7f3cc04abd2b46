package clock

import (
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestParseMode(t *testing.T) {
	for _, tt := range []struct {
		in      string
		want    Mode
		str     string
		virtual bool
	}{
		{"", Auto, "auto", true},
		{"auto", Auto, "auto", true},
		{"real", Real, "real", false},
		{"1x", Real, "real", false},
		{"60x", Fixed(60), "60x", true},
		{"0.1x", Fixed(0.1), "0.1x", true},
		{"2.5x", Fixed(2.5), "2.5x", true},
		{"1e3x", Fixed(1000), "1000x", true},
		{"10000x", Fixed(10000), "10000x", true},
	} {
		got, err := parseMode(tt.in)
		if err != nil || got != tt.want {
			t.Errorf("parseMode(%q) = %v, %v, want %v", tt.in, got, err, tt.want)
		}
		if got.String() != tt.str || got.Virtual() != tt.virtual {
			t.Errorf("parseMode(%q) is %s and virtual: %v, want %s and %v", tt.in, got, got.Virtual(), tt.str, tt.virtual)
		}
	}
	for _, in := range []string{"x", "60", "0x", "0.09x", "10001x", "-5x", "NaNx", "Infx", "60X", "fast", " auto", "60xx"} {
		_, err := parseMode(in)
		if err == nil {
			t.Errorf("parseMode(%q) gives no error", in)
		} else if msg := err.Error(); !strings.Contains(msg, `"`+in+`"`) || !strings.Contains(msg, `"auto", "real"`) {
			t.Errorf("parseMode(%q): %q names not both the value and what is allowed", in, msg)
		}
	}
}

func TestModeSupported(t *testing.T) {
	for _, tt := range []struct {
		mode         Mode
		goos, goarch string
		want         string // in the error; "" for none
	}{
		{Auto, "linux", "amd64", ""},
		{Fixed(60), "linux", "arm64", ""},
		{Real, "darwin", "arm64", ""},
		{Auto, "darwin", "arm64", `clock "auto": virtual time needs linux on amd64 or arm64, and this is darwin/arm64; use --clock real`},
		{Fixed(60), "linux", "riscv64", `clock "60x": virtual time needs linux on amd64 or arm64, and this is linux/riscv64; use --clock real`},
	} {
		err := tt.mode.supported(tt.goos, tt.goarch)
		if got := errText(err); got != tt.want {
			t.Errorf("%s on %s/%s: %q, want %q", tt.mode, tt.goos, tt.goarch, got, tt.want)
		}
	}
}

// A Mode is a command line flag, and a failing Set changes nothing that matters.
func TestModeFlag(t *testing.T) {
	var m Mode
	if err := m.Set("real"); err != nil || m != Real {
		t.Errorf("Set(real): %v, %v", m, err)
	}
	if err := m.Set("warp"); err == nil {
		t.Error("Set(warp) gives no error")
	}
	if math.IsNaN(m.factor) {
		t.Error("a factor that is not a number")
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// The packages compile for both architectures, their tests too: how a guest's time is made virtual
// is a matter of the machine's registers and calls.
func TestCompilesForOthers(t *testing.T) {
	if testing.Short() {
		t.Skip("compiling for linux/amd64 and linux/arm64 takes half a minute, once: not with -short")
	}
	for _, goarch := range []string{"amd64", "arm64"} {
		cmd := exec.Command("go", "test", "-c", "-o", t.TempDir(), "./...")
		cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH="+goarch, "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("linux/%s: %v\n%s", goarch, err, out)
		}
	}
}
