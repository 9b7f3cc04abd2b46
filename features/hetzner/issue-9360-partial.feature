# Left by https://github.com/kubernetes/autoscaler/pull/9360, first in 1.36.0.

@cluster-autoscaler @hetzner @issue-9360
Feature: Servers that came of a scale-up that failed in part are counted on

  @hetzner-9360-partial
  Scenario: Two of three servers are created, and the third is out of stock
    Given a cluster
    And a Hetzner Cloud project that still has the server type "cx11"
    And a Ready Node "control-plane" on a server of the project
    And a node group "pool1" of 0 to 3 servers of type "cpx11" in "fsn1"
    And a node group "pool2" of 0 to 3 servers of type "cx32" in "fsn1"
    And the third call "create servers" to the cloud for servers of the group "pool1" is refused with "resource_unavailable"
    And Cluster Autoscaler
    When a Deployment "web" of 3 pods that request 1500m CPU is created
    Then every pod is Running within 15m
    And this holds within 1m:
      """
      count: {source: cloud, verb: created, resource: instances, detail: {group: {exists: true}}}
      atLeast: 1
      atMost: 3
      ever: true
      """
