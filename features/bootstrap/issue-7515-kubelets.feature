# https://github.com/aws/karpenter-provider-aws/issues/7515, with real kubelets.

@karpenter @bootstrap @issue-7515
Feature: A real kubelet that is not ready for a moment costs no second machine

  What simulated kubelets show in the features of karpenter, with the kubelet's own
  code, intervals and conditions.

  @bootstrap-7515-network-late
  Scenario: A Node whose network plugin is two and a half minutes late
    Given a cluster that kubelets can join, without the admission plugin DefaultTolerationSeconds
    And a Ready Node "system" for system pods only
    And machines with kubelets that register 30s after their launch and have a network 2m30s later
    And Karpenter with a NodePool "default"
    When a Deployment "web" of 1 pod that requests 1 CPU is created
    Then 5m from now, exactly 1 NodeClaim has been created since the start
    And a pod of the Deployment "web" is Running within 5m

  @bootstrap-7515-runtime-flap
  Scenario: The container runtime does not answer for a minute while a pod is pending
    Given a cluster that kubelets can join
    And a Ready Node "system" for system pods only
    And machines with kubelets that register 30s after their launch and have a network 10s later
    And Karpenter with a NodePool "default"
    And a pod "web" that requests 1 CPU is Running
    And Karpenter has initialized a Node, and 2m have passed since the first NodeClaim was created
    When the real kubelet of the machine "$name" is not answered by its container runtime, for 1m
    And a pod "api" that requests 1 CPU is created once this is recorded:
      """
      source: api
      resource: nodes
      detail: {added: {contains: "node.kubernetes.io/not-ready:NoSchedule"}}
      """
    Then 5m from now, exactly 1 NodeClaim has been created since the start
    And the pod "api" is Running within 5m

  @bootstrap-7515-kubelet-restart
  Scenario: The kubelet is restarted and is back after five seconds
    Given a cluster that kubelets can join
    And a Ready Node "system" for system pods only
    And machines with kubelets that register 30s after their launch and have a network 10s later
    And Karpenter with a NodePool "default"
    And a pod "web" that requests 1 CPU is Running
    And Karpenter has initialized a Node, and 2m have passed since the first NodeClaim was created
    When the real kubelet of the machine "$name" is stopped, for 5s
    And a pod "api" that requests 1 CPU is created
    Then 5m from now, exactly 1 NodeClaim has been created since the start
    And the pod "api" is Running within 5m
