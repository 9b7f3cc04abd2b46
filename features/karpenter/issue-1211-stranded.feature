# https://github.com/Azure/karpenter-provider-azure/issues/1211

@karpenter @issue-1211
Feature: A machine of which nothing is heard is not waited for longer than machines take

  @karpenter-1211-stranded
  Scenario: The machine that was launched never becomes a node
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 1s later
    And every call "create nodes" of the program "karpenter" is answered with 500, for 2m
    And Karpenter with a NodePool "default"
    When a pod "web" that requests 1 CPU is created
    Then the pod "web" is Running within 10m
