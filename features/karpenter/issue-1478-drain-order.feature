# Fixed by https://github.com/kubernetes-sigs/karpenter/pull/1478, first in v1.1.0.

@karpenter @issue-1478
Feature: Critical pods leave a node when all others are gone

  @karpenter-1478-drain-order
  Scenario: A pod needs a minute to stop on the node of a critical one
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 1s later
    And Karpenter with a NodePool "default"
    When these objects are created:
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: web, annotations: {nodestorm.sim/stop-after: 1m}}
      spec:
        terminationGracePeriodSeconds: 120
        containers: [{name: web, image: web, resources: {requests: {cpu: 1}}}]
      ---
      apiVersion: v1
      kind: Pod
      metadata: {name: critical}
      spec:
        priorityClassName: system-cluster-critical
        containers: [{name: critical, image: critical, resources: {requests: {cpu: 1}}}]
      """
    Then the pod "web" is Running within 5m
    And the pod "critical" is Running within 5m
    When "NodeClaim/$name" is deleted once "karpenter" has ever sent "create" of "nodeclaims"
    Then "sim-node" has sent "delete" of "pods" "web" before "karpenter" has sent "create" of "pods/eviction" "critical" within 5m
