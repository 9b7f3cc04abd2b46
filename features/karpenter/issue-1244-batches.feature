# Fixed by https://github.com/kubernetes-sigs/karpenter/pull/1244, first in v1.2.0.

@karpenter @issue-1244
Feature: A pod is waited for once

  @karpenter-1244-batches
  Scenario: Pods are to be planned for when no other one has come for a quarter of a minute
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 1s later
    And the target has the environment variables:
      | BATCH_IDLE_DURATION | 15s |
      | BATCH_MAX_DURATION  | 3m  |
    And Karpenter with a NodePool "default"
    When a pod "web" that requests 1 CPU is created
    Then the pod "web" is Running within 1m
