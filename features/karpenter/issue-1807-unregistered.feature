# Fixed by https://github.com/kubernetes-sigs/karpenter/pull/1807, first in v1.1.0.

@karpenter @issue-1807
Feature: A Node is deleted by who looks after it, or else its kubelet makes parts of it anew

  @karpenter-1807-unregistered
  Scenario: A machine is deleted when its kubelet has registered, and Karpenter has not yet
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 1s later
    And every call "patch nodes" of the program "karpenter" is answered with 500, for 2m
    And Karpenter with a NodePool "default"
    When a pod "web" that requests 1 CPU is created
    And "node" has recorded "ready" of "nodes"
    And "NodeClaim/$name" is deleted once "karpenter" has ever sent "create" of "nodeclaims"
    Then "karpenter" never sends "delete" of "nodes" within 30s
