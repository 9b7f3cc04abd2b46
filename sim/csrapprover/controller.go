package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	listers "k8s.io/client-go/listers/certificates/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
)

// controller decides on each request once.
type controller struct {
	client kubernetes.Interface
	policy policy
	lister listers.CertificateSigningRequestLister
	queue  workqueue.TypedRateLimitingInterface[string]
}

// run decides until ctx ends. ready is called when all requests are known.
func run(ctx context.Context, client kubernetes.Interface, p policy, ready func()) error {
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTweakListOptions(func(o *metav1.ListOptions) {
		o.FieldSelector = fields.OneTermEqualSelector("spec.signerName", certificatesv1.KubeletServingSignerName).String()
	}))
	requests := factory.Certificates().V1().CertificateSigningRequests()
	c := &controller{
		client: client, policy: p, lister: requests.Lister(),
		queue: workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]()),
	}
	add := func(o any) {
		if r, ok := o.(*certificatesv1.CertificateSigningRequest); ok && pending(r) {
			c.queue.Add(r.Name)
		}
	}
	if _, err := requests.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: add, UpdateFunc: func(_, o any) { add(o) },
	}); err != nil {
		return err
	}
	factory.Start(ctx.Done())
	defer factory.Shutdown()
	if !cache.WaitForCacheSync(ctx.Done(), requests.Informer().HasSynced) {
		return ctx.Err()
	}
	ready()
	go func() {
		<-ctx.Done()
		c.queue.ShutDown()
	}()
	for c.next(ctx) {
	}
	return nil
}

// pending reports whether nobody has decided yet.
func pending(r *certificatesv1.CertificateSigningRequest) bool {
	return len(r.Status.Certificate) == 0 && len(r.Status.Conditions) == 0
}

func (c *controller) next(ctx context.Context) bool {
	name, shutdown := c.queue.Get()
	if shutdown {
		return false
	}
	defer c.queue.Done(name)
	err := c.decide(ctx, name)
	switch {
	case err == nil:
		c.queue.Forget(name)
	case ctx.Err() == nil:
		klog.ErrorS(err, "Cannot decide on the request", "csr", name)
		c.queue.AddRateLimited(name)
	}
	return true
}

func (c *controller) decide(ctx context.Context, name string) error {
	r, err := c.lister.Get(name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if !pending(r) {
		return nil
	}
	verdict := c.policy.check(ctx, r.Spec)
	if errors.Is(verdict, errNotOurs) {
		return nil
	}
	condition := certificatesv1.CertificateSigningRequestCondition{
		Type: certificatesv1.CertificateApproved, Status: corev1.ConditionTrue,
		Reason: "ChecksPassed", Message: "a kubelet's request for its own names and addresses",
		LastUpdateTime: metav1.NewTime(time.Now()),
	}
	if verdict != nil {
		condition.Type, condition.Reason, condition.Message = certificatesv1.CertificateDenied, "ChecksFailed", verdict.Error()
	}
	r = r.DeepCopy()
	r.Status.Conditions = append(r.Status.Conditions, condition)
	if _, err := c.client.CertificatesV1().CertificateSigningRequests().UpdateApproval(ctx, name, r, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("updating the approval: %w", err)
	}
	klog.InfoS("Decided", "csr", name, "requestor", r.Spec.Username, "decision", condition.Type, "message", condition.Message)
	return nil
}
