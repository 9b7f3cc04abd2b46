package world

// OnStop has Stop call f, before what was started earlier is ended: for parts of a
// world that are no programs, such as a cloud. On a world that has been stopped f is
// called at once, and its error is dropped.
func (w *World) OnStop(f func() error) {
	w.mu.Lock()
	stopped := w.stopped
	if !stopped {
		w.undo = append(w.undo, f)
	}
	w.mu.Unlock()
	if stopped {
		_ = f()
	}
}

// Dir is a folder for what ends with the world, readable by us only.
func (w *World) Dir() string { return w.tmp }
