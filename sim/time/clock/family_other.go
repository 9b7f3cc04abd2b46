//go:build linux && !amd64 && !arm64

package clock

import "time"

type family struct{}

func (*family) hearAlone() {}

func (d *Driver) listen(wait time.Duration) { pause(wait) }
func (d *Driver) prick()                    {}
