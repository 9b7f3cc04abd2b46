# https://github.com/aws/karpenter-provider-aws/issues/7515, with real kubelets.

@karpenter @bootstrap @issue-7515
Feature: A real kubelet that is not ready for a moment costs no second machine

  What simulated kubelets show in the features of karpenter, with the kubelet's own
  code, intervals and conditions.

  @bootstrap-7515-network-late
  Scenario: A Node whose network plugin is two and a half minutes late
    Given a cluster that kubelets can join, whose API server adds no default tolerations
    And a Ready node "system" for system pods only
    And machines with kubelets that register 30s after their launch and have a network 2m30s later
    And Karpenter with a NodePool "default"
    When a Deployment "web" of 1 pod that requests 1 CPU is created
    Then no more than 1 NodeClaim is created within 5m
    And a pod of the Deployment "web" is Running within 5m

  @bootstrap-7515-runtime-flap
  Scenario: The container runtime does not answer for a minute while a pod is pending
    Given a cluster that kubelets can join
    And a Ready node "system" for system pods only
    And machines with kubelets that register 30s after their launch and have a network 10s later
    And Karpenter with a NodePool "default"
    And a pod "web" that requests 1 CPU is Running
    And its machine is initialized and 2m have passed since its launch
    When the real kubelet of the machine "$name" gets no answer of its container runtime, for 1m
    And a pod "api" that requests 1 CPU is created once this is recorded:
      """
      source: api
      resource: nodes
      detail: {added: {contains: "node.kubernetes.io/not-ready:NoSchedule"}}
      """
    Then no more than 1 NodeClaim is created within 5m
    And the pod "api" is Running within 5m

  @bootstrap-7515-kubelet-restart
  Scenario: The kubelet is restarted and is back after five seconds
    Given a cluster that kubelets can join
    And a Ready node "system" for system pods only
    And machines with kubelets that register 30s after their launch and have a network 10s later
    And Karpenter with a NodePool "default"
    And a pod "web" that requests 1 CPU is Running
    And its machine is initialized and 2m have passed since its launch
    When the real kubelet of the machine "$name" is stopped, for 5s
    And a pod "api" that requests 1 CPU is created
    Then no more than 1 NodeClaim is created within 5m
    And the pod "api" is Running within 5m
