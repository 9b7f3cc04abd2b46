# https://github.com/kubernetes/autoscaler/issues/6599

@cluster-autoscaler @hetzner @issue-6599
Feature: A server that never becomes a node is deleted

  Background:
    Given a cluster
    And a Hetzner Cloud project that still has the server type "cx11"
    And a Ready Node "control-plane" on a server of the project
    And a node group "pool1" of 0 to 1 servers of type "cx22" in "fsn1"
    And the first new simulated node never registers
    And Cluster Autoscaler with the flags:
      | --max-node-provision-time | 3m |

  @hetzner-6599-never-deleted
  Scenario: The first server of a group of one never registers
    When a pod "web" that requests 1 CPU is created
    Then at least 2 servers of the group "pool1" are created within 15m
    And the pod "web" is Running within 5m
