# Reported in https://github.com/kubernetes-sigs/karpenter/issues/1987.

@karpenter @issue-1987
Feature: Karpenter that is told to end gives up what it holds

  @karpenter-1987-lease-kept
  Scenario: The leader of two replicas ends by SIGTERM, and pods come for which there is no machine
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 6s after their launch and are Ready 2s later
    And the target has 2 replicas
    And Karpenter with a NodePool "default"
    When the leader of the target is stopped
    And these objects from the file "spread.yaml" are created
    Then "karpenter" has sent "create" of "nodeclaims" within 9s
    And every pod is Running within 4m
