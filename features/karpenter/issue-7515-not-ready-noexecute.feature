# https://github.com/aws/karpenter-provider-aws/issues/7515
# Fixed by https://github.com/kubernetes-sigs/karpenter/pull/2265, first in v1.7.0.

@karpenter @issue-7515
Feature: A machine whose Node is not ready yet is still the machine the pod waits for

  While a Node reports Ready=False, kube-controller-manager taints it with
  node.kubernetes.io/not-ready:NoExecute. Karpenter must not take this for a
  reason to launch another machine: the taint goes as soon as the Node is ready.

  @karpenter-7515-not-ready-noexecute
  Scenario: A Node that needs two and a half minutes to become Ready
    Given a cluster without the admission plugin DefaultTolerationSeconds
    And a Ready Node "system" for system pods only
    And machines that register 30s after their launch and are Ready 2m30s later
    And Karpenter with a NodePool "default"
    When a Deployment "web" of 1 pod that requests 1 CPU is created
    Then 5m from now, exactly 1 NodeClaim has been created since the start
    And a pod of the Deployment "web" is Running within 5m
