package acts

import (
	"context"
	"encoding/base64"

	"nodestorm/harness/program/manifest"
	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/sentences/words"
)

var serverSentences = scene.Sentences{
	Worlds: "servers of a Hetzner Cloud project", Records: "servers (cloud), nodes (node), calls to the API server (api)",
	Rows: []scene.Sentence{
		{Role: scene.Given, Words: `servers of the node groups boot with this user data:`, Wants: wantsCloudInit, Check: scene.CheckUserData,
			Act: serversBootWith},
		{Role: scene.Given, Words: `servers with (simulated|real) kubelets`, Needs: []scene.Need{scene.Kubelet}, Act: serversWithKubelets},
		{Role: scene.Given, Words: `CSINodes that come DURATION late`, Needs: []scene.Need{scene.Kubelet}, Act: csiNodesLate},
		{Role: scene.Given, Words: `servers whose Nodes are Ready DURATION after their registration`, Act: serversReadyAfter},
	},
}

// cloudInit is the variable that says how servers boot.
const cloudInit = "HCLOUD_CLOUD_INIT"

func wantsCloudInit(words.Args) (scene.Wants, error) {
	return scene.Wants{Env: []string{cloudInit}}, nil
}

// serversBootWith is for what Cluster Autoscaler creates.
func serversBootWith(ctx context.Context, s *scene.Scene, a words.Args) error {
	s.Settings.Env = append(s.Settings.Env, manifest.Variable{Name: cloudInit, Value: base64.StdEncoding.EncodeToString([]byte(a.Quoted))})
	if !s.Boots.RealServers {
		return nil
	}
	return s.CheckKubelet(ctx, a.Quoted)
}

func serversReadyAfter(_ context.Context, s *scene.Scene, a words.Args) error {
	s.Boots.Ready = a.Duration(0)
	return nil
}

// serversWithKubelets is for servers that boot from now on; without it they are simulated.
func serversWithKubelets(_ context.Context, s *scene.Scene, a words.Args) error {
	s.Boots.RealServers = a.Text(0) == realKubelet
	return nil
}

func csiNodesLate(ctx context.Context, s *scene.Scene, a words.Args) error {
	return s.Kubelets.DelayCSINodes(ctx, a.Duration(0))
}
