# https://github.com/kubernetes-sigs/karpenter/issues/2934
# Fixed by https://github.com/kubernetes-sigs/karpenter/pull/3025, first in v1.13.0.

@karpenter @issue-2934
Feature: A taint of the node readiness controller launches no second machine

  The node readiness controller taints a new Node until its conditions are met. The keys of its taints end with the name
  of a rule, so that no list has them.

  @karpenter-2934-readiness-taint
  Scenario: A rule keeps pods off a Node for a minute and a half
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 30s after their launch and are Ready 1s later
    And a node agent "readiness" that taints its Node with "readiness.k8s.io/network:NoSchedule" from 1s to 1m30s after registration
    And Karpenter with a NodePool "default"
    When a pod "web" that requests 1 CPU is created
    Then 5m from now, exactly 1 NodeClaim has been created since the start
    And the pod "web" is Running within 5m
