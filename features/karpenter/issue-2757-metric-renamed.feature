# Changed by https://github.com/kubernetes-sigs/karpenter/pull/2757, first in v1.9.0.

@karpenter @issue-2757
Feature: A metric is there after an upgrade under the name that alerts have

  @karpenter-2757-metric-renamed
  Scenario: Pods are evicted after an upgrade
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 1s later
    And the release before the target runs in its place until it is upgraded
    And Karpenter with a NodePool "default"
    And the metric "karpenter_nodes_eviction_requests_total" of the target is recorded
    And the metric "karpenter_pods_eviction_requests_total" of the target is recorded
    When a Deployment "web" of 1 pod that requests 3 CPU is created
    Then every pod is Running within 2m
    When the target is upgraded
    And "NodeClaim/$name" is deleted once "karpenter" has ever sent "create" of "nodeclaims"
    Then this holds within 3m:
      """
      happens: {source: harness, verb: measured, resource: metrics, name: karpenter_nodes_eviction_requests_total}
      """
    And this holds within 10s:
      """
      never: {source: harness, verb: measured, resource: metrics, name: karpenter_pods_eviction_requests_total}
      ever: true
      """
