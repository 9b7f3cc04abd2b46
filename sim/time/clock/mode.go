package clock

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"

	"nodestorm/sim/time/clock/overlay"
)

// Mode is how virtual time passes. The zero value is Auto.
type Mode struct {
	factor float64 // 0: auto
}

var (
	// Auto lets virtual time pass as real time does while any program of the
	// world has work to do, and jumps to the next timer when none has.
	Auto = Mode{}
	// Real is no virtual time at all.
	Real = Mode{factor: 1}
)

// maxFactor bounds fixed factors: far above what any program of a world survives.
const maxFactor = 10000

// Fixed lets virtual time pass at a constant factor, from 0.1 to 10000.
func Fixed(factor float64) Mode { return Mode{factor: factor} }

// ParseMode reads "auto", "real", or a factor such as "60x" (0.1x to 10000x).
func ParseMode(s string) (Mode, error) {
	m, err := parseMode(s)
	if err != nil {
		return Mode{}, err
	}
	return m, m.supported(runtime.GOOS, runtime.GOARCH)
}

// supported is an error where virtual time can't be had.
func (m Mode) supported(goos, goarch string) error {
	if m.Virtual() && !overlay.Supported(goos, goarch) {
		return fmt.Errorf("clock %q: virtual time needs linux on amd64 or arm64, and this is %s/%s; use --clock real", m, goos, goarch)
	}
	return nil
}

func parseMode(s string) (Mode, error) {
	switch s {
	case "auto", "":
		return Auto, nil
	case "real":
		return Real, nil
	}
	if num, ok := strings.CutSuffix(s, "x"); ok {
		if f, err := strconv.ParseFloat(num, 64); err == nil && f >= 0.1 && f <= maxFactor {
			return Fixed(f), nil
		}
	}
	return Mode{}, fmt.Errorf(`clock %q: want "auto", "real", or a factor from "0.1x" to "%dx"`, s, maxFactor)
}

// Virtual reports whether time can differ from real time, so that every program
// of the world must be built with the clock.
func (m Mode) Virtual() bool { return m.factor != 1 }

func (m Mode) String() string {
	switch m.factor {
	case 0:
		return "auto"
	case 1:
		return "real"
	}
	return strconv.FormatFloat(m.factor, 'g', -1, 64) + "x"
}

// Set and Type make a Mode a command line flag.
func (m *Mode) Set(s string) (err error) {
	*m, err = ParseMode(s)
	return err
}

// Type names the flag's value in help texts.
func (m *Mode) Type() string { return "auto|real|FACTORx" }
