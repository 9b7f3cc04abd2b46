package autoscaler

// kubeconfig is how the autoscaler reaches the API server: through a fault proxy if
// there are rules.
func (a *Autoscaler) kubeconfig(user string, groups ...string) (string, error) {
	if len(a.cfg.Rules) == 0 {
		return a.cfg.World.Kubeconfig(user, groups...)
	}
	path, _, err := a.cfg.World.KubeconfigThrough(a.cfg.Rules, user, groups...)
	return path, err
}
