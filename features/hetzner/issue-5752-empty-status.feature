# Fixed by https://github.com/kubernetes/autoscaler/pull/5752, first in 1.28.0.

@cluster-autoscaler @hetzner @issue-5752
Feature: An empty status is filled

  @hetzner-5752-empty-status
  Scenario: The ConfigMap of the autoscaler's status is there, without data
    Given a cluster
    And a Hetzner Cloud project that still has the server type "cx11"
    And a Ready Node "control-plane" on a server of the project
    And a node group "pool1" of 0 to 3 servers of type "cx22" in "fsn1"
    And these objects:
      """
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: cluster-autoscaler-status, namespace: kube-system}
      """
    And Cluster Autoscaler
    When a pod "web" that requests 1 CPU is created
    Then the pod "web" is Running within 5m
