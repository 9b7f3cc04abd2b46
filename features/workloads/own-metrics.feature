# What autoscalers count themselves, beside the measures of the same run.

Feature: The measures are what an autoscaler counts itself

  Background:
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 20s after their launch and are Ready 10s later

  @karpenter
  Scenario: Karpenter has two Nodes, and one goes
    Given a cloud of instances
    And Karpenter with a NodePool "default"
    And the metric "karpenter_nodes_created_total" of the target is recorded
    And the metric "karpenter_nodes_terminated_total" of the target is recorded
    And the metric "karpenter_pods_drained_total" of the target is recorded
    When a Deployment "web" of 1 pod that requests 3 CPU is created
    Then every pod is Running within 2m
    When a pod "other" that requests 3 CPU is created
    Then every pod is Running within 2m
    And the metric "karpenter_nodes_created_total" comes to the measure "nodesLaunched" within 1m
    When "Node/$oldest" is deleted
    Then the metric "karpenter_nodes_terminated_total" comes to the measure "nodesRemoved" within 5m
    And the metric "karpenter_pods_drained_total" comes to the measure "evictions" within 1m

  @cluster-autoscaler
  Scenario: Cluster Autoscaler has two Nodes, and one goes
    Given a cloud of node groups with the types and prices of a cloud of instances
    And the Nodes of instances that are gone are removed
    And these node groups:
      | name | type             | min | max | zone        |
      | four | c-4x-amd64-linux | 0   | 10  | test-zone-a |
    And Cluster Autoscaler with the flags:
      | --scale-down-delay-after-add | 1m |
      | --scale-down-unneeded-time   | 1m |
    And the metric "cluster_autoscaler_scaled_up_nodes_total" of the target is recorded
    And the metric "cluster_autoscaler_scaled_down_nodes_total" of the target is recorded
    When a Deployment "web" of 2 pods that request 3 CPU is created
    Then every pod is Running within 2m
    And the metric "cluster_autoscaler_scaled_up_nodes_total" comes to the measure "nodesLaunched" within 1m
    When "Deployment/web" is scaled to 1
    Then the metric "cluster_autoscaler_scaled_down_nodes_total" comes to the measure "nodesRemoved" within 10m
