//go:build linux && !amd64 && !arm64

package clock

import (
	"time"

	"nodestorm/sim/time/clock/raw"
)

type family struct{}

func (*family) hearAlone() {}

func (d *Driver) listen(wait time.Duration) { raw.Pause(wait) }
func (d *Driver) prick()                    {}
