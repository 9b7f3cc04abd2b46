# https://github.com/kubernetes-sigs/karpenter/issues/3265, open.

@karpenter @issue-3265
Feature: A pod that older kubelets cannot run gets a machine of its own

  From v1.36 on kubelets say what they can do, and kube-scheduler binds a pod to no Node that does not say what the pod needs.
  Kubelets may be three minor releases behind, and say nothing.

  Background:
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 1s later

  @karpenter-3265-kubelet-behind
  Scenario: The machine that is there has a kubelet of the release before, and new ones would not
    Given every new simulated node has a kubelet of Kubernetes v1.35.4
    And Karpenter with a NodePool "default"
    And a pod "web" that requests 1 CPU is Running
    When every new simulated node has a kubelet of Kubernetes v1.36.3
    And these objects from the file "restarts-all.yaml" are created
    Then every pod is Running within 5m

  @karpenter-3265-kubelet-of-the-release
  Scenario: The machine that is there has a kubelet that is as new as the control plane
    Given Karpenter with a NodePool "default"
    And a pod "web" that requests 1 CPU is Running
    When these objects from the file "restarts-all.yaml" are created
    Then every pod is Running within 5m
