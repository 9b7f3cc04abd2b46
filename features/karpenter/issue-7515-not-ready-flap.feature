# https://github.com/aws/karpenter-provider-aws/issues/7515

@karpenter @issue-7515
Feature: A Node that is not ready for a moment is still the machine that new pods fit

  Once a Node is initialized Karpenter looks past no taint any more. A kubelet
  that restarts while a pod is pending makes the pod fit no machine, and for a
  pause of seconds a machine is launched for hours.

  @karpenter-7515-not-ready-flap
  Scenario: The kubelet restarts two minutes after the launch while a pod is pending
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 30s after their launch and are Ready 10s later
    And Karpenter with a NodePool "default"
    And a pod "web" that requests 1 CPU is Running
    And Karpenter has initialized a Node, and 2m have passed since the first NodeClaim was created
    When the simulated node "$name" has its kubelet restarted, which is down for 5s and reports Ready 30s later
    And a pod "api" that requests 1 CPU is created once this is recorded:
      """
      source: api
      resource: nodes
      detail: {added: {contains: "node.kubernetes.io/not-ready:NoSchedule"}}
      """
    Then 5m from now, exactly 1 NodeClaim has been created since the start
    And the pod "api" is Running within 5m
