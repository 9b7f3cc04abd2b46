package kubelet

import (
	"context"
	"errors"
	"fmt"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"nodestorm/sim/fault"
	"nodestorm/sim/history"
)

// csiNodesLate is the fault's name, and that of the policy.
const csiNodesLate = "csinodes-late"

// DelayCSINodes has the API server refuse kubelets their CSINodes until d after the
// first was refused, and returns when it does. Until a kubelet has its CSINode its Node
// is NotReady; where that takes more than 140 s it gives up, and systemd starts it again
// (pkg/volume/csi/csi_plugin.go, initializeCSINode). Once in a world.
func (m *Machines) DelayCSINodes(ctx context.Context, d time.Duration) error {
	if err := m.refuseCSINodes(ctx); err != nil {
		return fmt.Errorf("refusing CSINodes: %w", err)
	}
	late, err := m.arm(fault.Fault{Name: csiNodesLate}, "kubelets cannot make their CSINodes for "+d.String(),
		history.Object{Resource: "csinodes"})
	if err != nil {
		return err
	}
	m.done.Go(func() {
		_, err := m.world.History().Wait(m.ctx, func(r history.Entry) bool {
			return r.Source == history.API && r.Verb == "create" && r.Object.Resource == "csinodes" && r.Actor == "kubelet" && r.Code == 403
		})
		if err != nil {
			return // the world ends
		}
		m.effective(late)
		over := m.world.Clock().NewTimer(d)
		defer over.Stop()
		select {
		case <-over.C():
		case <-m.ctx.Done():
			return
		}
		policies := m.world.Client().AdmissionregistrationV1()
		// Without its binding it refuses nothing. If that cannot be deleted, no Node gets Ready.
		if err := policies.ValidatingAdmissionPolicyBindings().Delete(m.ctx, csiNodesLate, metav1.DeleteOptions{}); err != nil {
			m.broken(csiNodesLate, fmt.Errorf("letting kubelets make their CSINodes: %w", err))
			return
		}
		m.cleared(late)
	})
	return nil
}

// refuseCSINodes makes the policy, and waits until kube-apiserver follows it.
func (m *Machines) refuseCSINodes(ctx context.Context) error {
	policy := &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: csiNodesLate},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{
				RuleWithOperations: admissionv1.RuleWithOperations{
					Operations: []admissionv1.OperationType{admissionv1.Create},
					Rule:       admissionv1.Rule{APIGroups: []string{storagev1.GroupName}, APIVersions: []string{"*"}, Resources: []string{"csinodes"}},
				},
			}}},
			Validations: []admissionv1.Validation{{Expression: "false", Message: "not yet", Reason: new(metav1.StatusReasonForbidden)}},
		},
	}
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: csiNodesLate},
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: csiNodesLate, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
		},
	}
	client := m.world.Client()
	if _, err := client.AdmissionregistrationV1().ValidatingAdmissionPolicies().Create(ctx, policy, metav1.CreateOptions{}); err != nil {
		return err
	}
	if _, err := client.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Create(ctx, binding,
		metav1.CreateOptions{}); err != nil {
		return err
	}
	probe := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: csiNodesLate}}
	for end := m.world.Clock().Now().Add(time.Minute); ; {
		_, err := client.StorageV1().CSINodes().Create(ctx, probe, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		switch {
		case apierrors.IsForbidden(err):
			return nil
		case err != nil:
			return err
		case m.world.Clock().Now().After(end):
			return errors.New("the policy is not followed within 1m")
		}
		select {
		case <-m.world.Clock().After(100 * time.Millisecond):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
