package builds

// Kubernetes is the control plane of worlds, at the version that the module
// sim/kubernetes requires.
var Kubernetes = Ref{Name: "kubernetes", Version: "v1.36.3"}

// Node is what makes a machine a node of a real cluster, kubelet and kubeadm, at the same
// version.
var Node = Ref{Name: "kubernetes-node", Version: Kubernetes.Version}

// ClusterAPI are the releases that worlds bring up: the one of the v1.9 line with
// which kubernetes/autoscaler#7872 was reported, and one that stores v1beta2.
var ClusterAPI = []Ref{{Name: "cluster-api", Version: "v1.9.5"}, {Name: "cluster-api", Version: "v1.12.0"}}

// Nodestorm's own parts of a cluster, each a module of its own, at the version of the
// Kubernetes libraries that it requires.
var (
	// CCM is a cloud controller manager for the Hetzner Cloud.
	CCM = Ref{Name: "ccm", Version: "v0.36.3"}
	// CCMVSphere is one for vSphere.
	CCMVSphere = Ref{Name: "ccm-vsphere", Version: "v0.36.3"}
	// CSRApprover approves kubelets' requests for serving certificates.
	CSRApprover = Ref{Name: "csr-approver", Version: "v0.36.3"}
)

// The names of those that can stand in for ours.
const (
	ReleasedCCM         = "hcloud-cloud-controller-manager"
	ReleasedCCMVSphere  = "vsphere-cloud-controller-manager"
	ReleasedCSRApprover = "kubelet-csr-approver"
)

// Parts are those that worlds bring up beside the target.
var Parts = []Ref{CCM, CCMVSphere, CSRApprover}

// Instances is the provider of builds of Karpenter that are linked with a cloud provider of ours,
// Kwok that of those with the one that comes with Karpenter, and AWS that of those with AWS's own,
// which are called KarpenterAWS. AWS is also that of AWSCCM, the cloud controller manager of AWS.
const (
	Instances    = "instances"
	Kwok         = "kwok"
	AWS          = "aws"
	KarpenterAWS = "karpenter-aws"
	AWSCCM       = "aws-ccm"
)

// Programs that are beside a target in a world.
const (
	// Descheduler evicts pods so that they get better places.
	Descheduler = "descheduler"
	// Kueue lets Jobs start when there is quota for them, and can ask an autoscaler for capacity first.
	Kueue = "kueue"
	// VPARecommender, VPAUpdater and VPAAdmission are the parts of the Vertical Pod Autoscaler: one recommends what pods
	// should ask for, one resizes and evicts pods, and one changes what those ask for that are created.
	VPARecommender = "vpa-recommender"
	VPAUpdater     = "vpa-updater"
	VPAAdmission   = "vpa-admission-controller"
)

// OnInstances is what features/instances/ is played on.
var OnInstances = Ref{Name: "karpenter", Version: "v1.7.0", Provider: Instances}
